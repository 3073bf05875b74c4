package faults

import (
	"time"

	"locklab/simulator"
)

// Pause stops a whole client process: its threads, its timers and with them
// its watchdog. The world goes on, and so does the process's clock. Whoever was
// inside the critical section still is.
type Pause struct{}

func (Pause) Name() string         { return "pause" }
func (Pause) Verb() simulator.Verb { return verbPause }

// Strikes offers pauses without a fixed end: they last until a Resume is
// chosen, but no longer than the budget allows.
func (Pause) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= m.Clients(); c++ {
		if m.Running(c) {
			buf = append(buf, simulator.Choice{Verb: verbPause, Client: int8(c)})
		}
	}
	return buf
}

func (Pause) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.Pause(c.Client, c.D, m.Max(verbPause))
}

// PauseOf is the choice that stops client c, from 1, for d of true time.
func PauseOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), D: d}
}
