package faults

import (
	"time"

	"locklab/simulator"
)

const verbClientClock = simulator.FaultVerb + 4

// ClientClock makes a client's clock jump: an operator sets it, or NTP steps it.
// Sleeps and timers that run are not affected, they count elapsed time.
//
// The two other ways in which a clock is wrong last from the start of a run and are
// settings: an offset, and a rate (simulator.ClientConfig).
var ClientClock = &simulator.Fault{
	Name: "client-clock", Verb: verbClientClock, Living: true, Clientside: true, Punctual: true,
	// Choices offers the jumps of FaultContext.Jumps.
	Choices: each(verbClientClock, simulator.FaultContext.Clients,
		simulator.ClientTarget.Alive, simulator.FaultContext.Jumps),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error { return f.Client(c.Client).StepClock(c.D) },
}

// ClientClockOf is the choice that moves the clock of client c, from 1, by d.
func ClientClockOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbClientClock, Client: int8(c), D: d}
}
