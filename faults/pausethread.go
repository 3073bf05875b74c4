package faults

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

const verbPauseThread = simulator.FaultVerb + 16

// PauseThread stops one thread of a client process, and the others go on: the one that renews the lease alone, or the
// one that works alone. A process has one pause at a time, of all of it or of one thread. Threads of code that is not
// on coroutines are not known, and so are not stopped.
var PauseThread = &simulator.Fault{
	Name: "pause-thread", Verb: verbPauseThread, Living: true, Clientside: true,
	// Choices offers pauses without a fixed end, as Pause does. A thread that waits for its timer is one, too.
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for c := range f.Clients {
			for t := range c.Threads {
				buf = append(buf, PauseThreadOf(c.ID, t.ID, 0))
				if t.Unsent() {
					buf = append(buf, PauseThreadUnsentOf(c.ID, t.ID))
				}
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		unsent := c.Thread >= simulator.MaxThreads
		if unsent {
			c.Thread -= simulator.MaxThreads
		}
		e := history.Event{Client: int(c.Client), Thread: int(c.Thread), D: c.D}
		if c.Thread > 0 {
			e.Note = "another"
		}
		f.Record(e)
		return f.Thread(c.Client, c.Thread).Pause(c.D, f.Max(), unsent)
	},
}

// PauseThreadOf is the choice that stops a thread (0: main) of client c, from 1, for d of true time; 0: until a Resume.
func PauseThreadOf(c, thread int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPauseThread, Client: int8(c), Thread: int8(thread), D: d}
}

// PauseThreadUnsentOf is the choice that stops a thread of client c, from 1, before the
// request is sent that it has just made, until a Resume is chosen.
func PauseThreadUnsentOf(c, thread int) simulator.Choice {
	return PauseThreadOf(c, simulator.MaxThreads+thread, 0)
}
