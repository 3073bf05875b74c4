package faults

import "locklab/simulator"

const verbFailover = simulator.FaultVerb + 7

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

const failoverTexts = `
[en]
title.fault.failover = a server is replaced by its replica, which may lag behind
server.failover = FAILOVER{note}
server.failover.numbered = FAILOVER to replica {n}{note}
fault.failover = A replica takes the place of {node}, with what had reached it.
fault.failover.numbered = Replica {n} takes the place of {node}, with what had reached it.
painted.failover = FAILOVER

[zh]
title.fault.failover = 主从切换：从库接替主库，数据可能落后
server.failover = 主从切换{note}
server.failover.numbered = 切换到从库 {n}{note}
fault.failover = 从库接替 {node}，只带着已经复制到的数据。
fault.failover.numbered = 从库 {n} 接替 {node}，只带着已经复制到的数据。
painted.failover = 切换
`
