package faults

import "locklab/simulator"

const verbFailover = simulator.FaultVerb + 7

// Failover loses a server and promotes one of its replicas, which has what was replicated to it and nothing else:
// replication is asynchronous, and not always the replica that has most is promoted (redis.io, commands/wait). Cached
// scripts and connections are lost with the old server.
var Failover = &simulator.Fault{
	Name: "failover", Verb: verbFailover,
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for n := range f.Servers {
			for r := range simulator.MaxReplicas {
				if n.HasReplica(r) {
					buf = append(buf, FailoverTo(n.ID, r))
				}
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error { return f.Server(c.Node).Failover(c.Thread) },
}

// FailoverOf is the choice that promotes the first replica of server n, from 1.
func FailoverOf(n int) simulator.Choice { return FailoverTo(n, 0) }

// FailoverTo is the choice that promotes replica r, from 0, of server n, from 1.
func FailoverTo(n, r int) simulator.Choice {
	return simulator.Choice{Verb: verbFailover, Node: int8(n), Thread: int8(r)}
}
