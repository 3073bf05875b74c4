package faults

import "locklab/simulator"

const verbExpireSession = simulator.FaultVerb + 15

// ExpireSession ends a client's ZooKeeper session before its time: the ensemble has
// lost the pings, or an operator has ended it. Its ephemeral znodes go, and the
// client learns of it only when it connects again. It concerns clients of a
// ZooKeeper only.
type ExpireSession struct{}

func (ExpireSession) Name() string         { return "expire-session" }
func (ExpireSession) Verb() simulator.Verb { return verbExpireSession }

func (ExpireSession) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.HasSession(c) && (f.World().Paused(c) || f.Running(c)) {
			buf = append(buf, simulator.Choice{Verb: verbExpireSession, Client: int8(c)})
		}
	}
	return buf
}

func (ExpireSession) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.EndSession(c.Client)
}

// ExpireSessionOf is the choice that ends the session of client c, from 1.
func ExpireSessionOf(c int) simulator.Choice {
	return simulator.Choice{Verb: verbExpireSession, Client: int8(c)}
}

const expireSessionTexts = `
[en]
title.fault.expire-session = a ZooKeeper ends a client's session before its time

[zh]
title.fault.expire-session = ZooKeeper 提前结束了客户端的会话
`
