package faults

import "locklab/simulator"

// Failover loses a server and promotes its replica, which has heard of what was
// replicated to it and of nothing else: replication is asynchronous. Cached
// scripts and connections are lost with the old server.
type Failover struct{}

func (Failover) Name() string         { return "failover" }
func (Failover) Verb() simulator.Verb { return verbFailover }

func (Failover) Strikes(m simulator.Moment, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		if m.HasReplica(n) {
			buf = append(buf, simulator.Choice{Verb: verbFailover, Node: int8(n)})
		}
	}
	return buf
}

func (Failover) Strike(m simulator.Moment, c simulator.Choice) string { return m.Failover(c.Node) }

// FailoverOf is the choice that promotes the replica of server n, from 1.
func FailoverOf(n int) simulator.Choice { return simulator.Choice{Verb: verbFailover, Node: int8(n)} }
