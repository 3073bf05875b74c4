package faults

import "locklab/simulator"

const verbExpireSession = simulator.FaultVerb + 15

// ExpireSession ends a client's ZooKeeper session before its time: the ensemble lost the pings, or an operator ended
// it. Its ephemeral znodes go; the client learns of it only when it reconnects. It is for a ZooKeeper's clients only.
var ExpireSession = &simulator.Fault{
	Name: "expire-session", Verb: verbExpireSession, Living: true,
	Choices: each(verbExpireSession, simulator.FaultContext.Clients, hasSession, once),
	Inject:  func(f simulator.FaultContext, c simulator.Choice) error { return f.Client(c.Client).EndSession() },
}

// ExpireSessionOf is the choice that ends the session of client c, from 1.
func ExpireSessionOf(c int) simulator.Choice {
	return simulator.Choice{Verb: verbExpireSession, Client: int8(c)}
}

func hasSession(c simulator.ClientTarget) bool { return c.HasSession() && c.Present() }
