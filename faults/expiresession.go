package faults

import "locklab/simulator"

// ExpireSession ends a client's ZooKeeper session before its time: the ensemble
// has lost the pings, or was told to end it. Its ephemeral znodes go, and the
// client hears of it only when it connects again. It concerns clients of a
// ZooKeeper only.
type ExpireSession struct{}

func (ExpireSession) Name() string         { return "expire-session" }
func (ExpireSession) Verb() simulator.Verb { return verbExpireSession }

func (ExpireSession) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= m.Clients(); c++ {
		if m.HasSession(c) && (m.World().Paused(c) || m.Running(c)) {
			buf = append(buf, simulator.Choice{Verb: verbExpireSession, Client: int8(c)})
		}
	}
	return buf
}

func (ExpireSession) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.EndSession(c.Client)
}

// ExpireSessionOf is the choice that ends the session of client c, from 1.
func ExpireSessionOf(c int) simulator.Choice {
	return simulator.Choice{Verb: verbExpireSession, Client: int8(c)}
}
