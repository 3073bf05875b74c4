package faults

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/node"
)

const verbPause = simulator.FaultVerb + 1

// Pause stops a whole client process: its threads, its timers and with them its watchdog. The world goes on, and so
// does the process's clock. A client that was in the critical section still is.
var Pause = &simulator.Fault{
	Name: "pause", Verb: verbPause, Living: true, Clientside: true,
	// Choices offers pauses without a fixed end: they last until a Resume is chosen, but no longer than the budget
	// allows. A client that has just made a request may stop before or after it is sent.
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for c := range f.Clients {
			if c.Running() && !c.ThreadStopped() {
				buf = append(buf, PauseOf(c.ID, 0))
				if c.Unsent() {
					buf = append(buf, PauseUnsentOf(c.ID))
				}
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		if c.Thread == computing && c.D <= 0 {
			return node.Refuse("refused.delay.length")
		}
		err := f.Client(c.Client).Pause(c.D, f.Max(), c.Thread == beforeSending)
		if err == nil && c.Thread == computing {
			f.Client(c.Client).ProlongSleep(c.D)
		}
		return err
	},
}

// beforeSending as the Thread of a pause: the requests that the client has just made leave it only when it goes on.
const beforeSending = 1

// computing as the Thread of a pause: the main thread's sleep is work that goes on only when the client does.
const computing = 2

// PauseOf is the choice that stops client c, from 1, for d of true time.
func PauseOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), D: d}
}

// PauseComputingOf is PauseOf with a main thread whose sleep is work of the process: the rest is done after the pause.
func PauseComputingOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), Thread: computing, D: d}
}

// PauseUnsentOf is the choice that stops client c, from 1, before its latest requests are sent, until a Resume.
func PauseUnsentOf(c int) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), Thread: beforeSending}
}
