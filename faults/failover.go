package faults

import "locklab/simulator"

// Failover loses a server and promotes one of its replicas, which has what was
// replicated to it and nothing else: replication is asynchronous, and not always the
// replica that has most is promoted (redis.io, commands/wait). Cached scripts and
// connections are lost with the old server.
type Failover struct{}

func (Failover) Name() string         { return "failover" }
func (Failover) Verb() simulator.Verb { return verbFailover }

func (Failover) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= f.Nodes(); n++ {
		for r := range simulator.MaxReplicas {
			if f.HasReplica(n, r) {
				buf = append(buf, FailoverTo(n, r))
			}
		}
	}
	return buf
}

func (Failover) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Failover(c.Node, c.Thread)
}

// FailoverOf is the choice that promotes the first replica of server n, from 1.
func FailoverOf(n int) simulator.Choice { return FailoverTo(n, 0) }

// FailoverTo is the choice that promotes replica r, from 0, of server n, from 1.
func FailoverTo(n, r int) simulator.Choice {
	return simulator.Choice{Verb: verbFailover, Node: int8(n), Thread: int8(r)}
}
