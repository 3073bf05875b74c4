package faults

import (
	"time"

	"locklab/simulator"
)

// Pause stops a whole client process: its threads, its timers and with them its
// watchdog. The world goes on, and so does the process's clock. A client that was in
// the critical section still is.
type Pause struct{}

func (Pause) Name() string         { return "pause" }
func (Pause) Verb() simulator.Verb { return verbPause }

// Choices offers pauses without a fixed end: they last until a Resume is chosen, but no
// longer than the budget allows. A client that has just made a request may stop before or
// after it is sent.
func (Pause) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.Running(c) {
			buf = append(buf, simulator.Choice{Verb: verbPause, Client: int8(c)})
			if f.Unsent(c) {
				buf = append(buf, simulator.Choice{Verb: verbPause, Client: int8(c), Thread: beforeSending})
			}
		}
	}
	return buf
}

func (Pause) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Pause(c.Client, c.D, f.Max(verbPause), c.Thread == beforeSending)
}

// beforeSending as the Thread of a pause: the requests that the client has just made
// leave it only when it goes on.
const beforeSending = 1

// PauseOf is the choice that stops client c, from 1, for d of true time.
func PauseOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), D: d}
}
