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
type ClientClock struct{}

func (ClientClock) Name() string         { return "client-clock" }
func (ClientClock) Verb() simulator.Verb { return verbClientClock }

// Clientside implements simulator.Clientside.
func (ClientClock) Clientside() {}

// Punctual implements simulator.Punctual.
func (ClientClock) Punctual() {}

// Choices offers the jumps of FaultContext.Jumps.
func (ClientClock) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := range f.Clients {
		if c.Alive() {
			for d := range f.Jumps {
				buf = append(buf, ClientClockOf(c.ID, d))
			}
		}
	}
	return buf
}

func (ClientClock) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Client(c.Client).StepClock(c.D)
}

// ClientClockOf is the choice that moves the clock of client c, from 1, by d.
func ClientClockOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbClientClock, Client: int8(c), D: d}
}
