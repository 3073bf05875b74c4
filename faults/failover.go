package faults

import "locklab/simulator"

// Failover loses a server and promotes one of its replicas, which has heard of
// what was replicated to it and of nothing else: replication is asynchronous,
// and the replica that has heard most is not always the one that is found
// (redis.io, commands/wait). Cached scripts and connections are lost with the
// old server.
type Failover struct{}

func (Failover) Name() string         { return "failover" }
func (Failover) Verb() simulator.Verb { return verbFailover }

func (Failover) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		for r := range simulator.MaxReplicas {
			if m.HasReplica(n, r) {
				buf = append(buf, FailoverTo(n, r))
			}
		}
	}
	return buf
}

func (Failover) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.Failover(c.Node, c.Thread)
}

// FailoverOf is the choice that promotes the first replica of server n, from 1.
func FailoverOf(n int) simulator.Choice { return FailoverTo(n, 0) }

// FailoverTo is the choice that promotes replica r, from 0, of server n, from 1.
func FailoverTo(n, r int) simulator.Choice {
	return simulator.Choice{Verb: verbFailover, Node: int8(n), Thread: int8(r)}
}
