package faults

import "locklab/simulator"

const verbFlush = simulator.FaultVerb + 13

// Flush empties a server from outside: FLUSHALL, meant for another server, or for a
// cache beside the locks. It is replicated like any write.
type Flush struct{}

func (Flush) Name() string         { return "flush" }
func (Flush) Verb() simulator.Verb { return verbFlush }

func (Flush) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := range f.Servers {
		if len(keys(n)) > 0 {
			buf = append(buf, FlushOf(n.ID))
		}
	}
	return buf
}

func (Flush) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Server(c.Node).Command("by a stranger's hand", "FLUSHALL")
}

// FlushOf is the choice that empties server n, from 1.
func FlushOf(n int) simulator.Choice { return simulator.Choice{Verb: verbFlush, Node: int8(n)} }
