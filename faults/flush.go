package faults

import "locklab/simulator"

const verbFlush = simulator.FaultVerb + 13

// Flush empties a server from outside: FLUSHALL, meant for another server, or for a
// cache beside the locks. It is replicated like any write.
var Flush = &simulator.Fault{
	Name: "flush", Verb: verbFlush,
	Choices: each(verbFlush, simulator.FaultContext.Servers, hasKeys, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		return f.Server(c.Node).Command("by a stranger's hand", "FLUSHALL")
	},
}

// FlushOf is the choice that empties server n, from 1.
func FlushOf(n int) simulator.Choice { return simulator.Choice{Verb: verbFlush, Node: int8(n)} }

func hasKeys(n simulator.ServerTarget) bool { return len(keys(n)) > 0 }
