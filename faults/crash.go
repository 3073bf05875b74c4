package faults

import "locklab/simulator"

const verbCrash = simulator.FaultVerb + 0

// Crash kills a client process with all its threads: the watchdog dies with its owner. It can happen between any two
// operations; a request that has left may still arrive, so the command can take effect before or after.
var Crash = &simulator.Fault{
	Name: "crash", Verb: verbCrash, Living: true, Clientside: true, Punctual: true,
	Choices: each(verbCrash, simulator.FaultContext.Clients, simulator.ClientTarget.Present, once),
	Inject:  func(f simulator.FaultContext, c simulator.Choice) error { return f.Client(c.Client).Crash() },
}

// CrashOf is the choice that kills client c, from 1.
func CrashOf(c int) simulator.Choice { return simulator.Choice{Verb: verbCrash, Client: int8(c)} }
