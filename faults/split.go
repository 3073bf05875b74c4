package faults

import "locklab/simulator"

const verbSplit = simulator.FaultVerb + 8

// Split cuts a master off, with one client, and promotes a replica for the others:
// split brain. The old master goes on serving the client that it can still reach;
// injected again on the same server, it takes one more client to that side. It lasts
// until a Heal is chosen, or for good. Then the old master is demoted, and the writes
// that it took meanwhile are lost.
//
// The clients on the other side see their connections break, and reach the new master
// without delay.
type Split struct{}

func (Split) Name() string         { return "split" }
func (Split) Verb() simulator.Verb { return verbSplit }

func (Split) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= f.Nodes(); n++ {
		for r := range simulator.MaxReplicas {
			for c := 1; c <= f.Clients(); c++ {
				if f.World().Alive(c) && f.CanSplit(c, n, r) {
					buf = append(buf, SplitOf(c, n, r))
				}
			}
		}
	}
	return buf
}

func (Split) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Split(c.Client, c.Node, c.Thread)
}

// SplitOf is the choice that cuts the master of server n, from 1, off with
// client c, from 1, and promotes replica r, from 0.
func SplitOf(c, n, r int) simulator.Choice {
	return simulator.Choice{Verb: verbSplit, Client: int8(c), Node: int8(n), Thread: int8(r)}
}

const splitTexts = `
[en]
title.fault.split = a server is cut off with some clients and lives on, while its replica serves the others
lane.split = CUT OFF with the old master
server.split = SPLIT
server.split.numbered = SPLIT, replica {n} leads
server.heal = HEALED
fault.split = {client} is cut off with the old master of {node}, which lives on. A replica takes its place for the others.
fault.split.numbered = {client} is cut off with the old master of {node}, which lives on. Replica {n} takes its place for the others.
fault.heal = The network of {node} heals: the old master becomes a replica, and what it was told meanwhile is gone.

[zh]
title.fault.split = 脑裂：主库与部分客户端一起被隔离，仍在运行，从库为其余客户端服务
lane.split = 与旧主库一起被隔离
server.split = 脑裂
server.split.numbered = 脑裂，从库 {n} 成为主库
server.heal = 网络恢复
fault.split = {client} 与 {node} 的旧主库一起被隔离，旧主库仍在运行；从库接替它为其他客户端服务。
fault.split.numbered = {client} 与 {node} 的旧主库一起被隔离，旧主库仍在运行；从库 {n} 接替它为其他客户端服务。
fault.heal = {node} 的网络恢复：旧主库降为从库，其间写入它的数据全部丢失。
`
