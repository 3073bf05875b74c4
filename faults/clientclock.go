package faults

import (
	"time"

	"locklab/simulator"
)

// ClientClock makes a client's clock jump: somebody sets it, or NTP steps it.
// Sleeps and timers that run are not affected, they count elapsed time.
//
// The two other ways in which a clock is wrong are there from the start of a
// run and belong to its cast: an offset, and a rate (simulator.ClientSetup).
type ClientClock struct{}

func (ClientClock) Name() string         { return "client-clock" }
func (ClientClock) Verb() simulator.Verb { return verbClientClock }

// Strikes offers the largest jump that the budget allows, forward and back; a
// budget without a size offers none, since every size would be as good.
func (ClientClock) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	d := m.Max(verbClientClock)
	for c := 1; c <= m.Clients() && d > 0; c++ {
		if m.World().Alive(c) {
			buf = append(buf,
				simulator.Choice{Verb: verbClientClock, Client: int8(c), D: d},
				simulator.Choice{Verb: verbClientClock, Client: int8(c), D: -d})
		}
	}
	return buf
}

func (ClientClock) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.StepClock(c.Client, c.D)
}

// ClientClockOf is the choice that moves the clock of client c, from 1, by d.
func ClientClockOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbClientClock, Client: int8(c), D: d}
}
