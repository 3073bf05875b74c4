package faults_test

import (
	"context"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// threaded sleeps for three seconds in its main thread; a timer of it asks after two, and is
// stopped after the first sleep if stops is true.
func threaded(stops bool) func(*simulator.Client) {
	return func(c *simulator.Client) {
		timer := c.Clock().AfterFunc(2*sec, func() { _ = c.Redis(1).Ping(context.Background()).Err() })
		c.Clock().Sleep(3 * sec)
		if stops {
			timer.Stop()
		}
		c.Clock().Sleep(time.Hour)
	}
}

func newThreaded(t *testing.T, budget string, stops bool, timing *simulator.Timing) *stage {
	t.Helper()
	return begun(t, budget, 1, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: threaded(stops)}, {Program: idle}}, Nodes: make([]simulator.NodeConfig, 1), Timing: timing,
	})
}

// While a timer is paused the main thread goes on, and the other way round; what a thread
// could have done meanwhile it does after its pause.
func TestPauseOfAThread(t *testing.T) {
	main, timer := simulator.Choice{Verb: simulator.Wake, Client: 1}, simulator.Choice{Verb: simulator.Wake, Client: 1, Thread: 1}
	pass := func(d time.Duration) simulator.Choice { return simulator.Choice{Verb: simulator.Pass, D: d} }
	ends := func(thread int8) simulator.Choice {
		return simulator.Choice{Verb: simulator.Resume, Client: 1, Thread: thread + 1}
	}

	s := newThreaded(t, "pause-thread=2@5s,pause=1,crash=1", false, nil)
	if e := s.step(t, faults.PauseThreadOf(1, 1, 0))[0]; e.Kind != history.Fault || e.Thread != 1 || e.Note != "another" {
		t.Errorf("told %+v", e)
	}
	s.refused(t, faults.PauseThreadOf(1, 0, 0), "paused already")
	s.refused(t, faults.PauseOf(1, 0), "paused already")
	s.refused(t, ends(0), "no pause")
	s.step(t, pass(3*sec)) // beyond the timer
	s.refused(t, timer, "paused")
	s.step(t, main)
	s.refused(t, pass(3*sec), "due before") // its longest pause is over at 5s
	s.step(t, pass(2*sec))
	s.refused(t, pass(1), "due first")
	if e := s.step(t, ends(1))[0]; e.Kind != history.Wake || e.Note != history.FromPause || e.Thread != 1 {
		t.Errorf("told %+v", e)
	}
	s.step(t, timer)
	s.step(t, faults.PauseThreadUnsentOf(1, 1)) // before it has sent its request
	s.refused(t, simulator.Choice{Verb: simulator.Arrive, Client: 1, Thread: 1}, "no request is on the way")
	s.step(t, ends(1))
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1, Thread: 1})

	s = newThreaded(t, "pause-thread=2@5s", false, nil)
	s.step(t, faults.PauseThreadOf(1, 0, 4*sec))
	s.step(t, pass(2*sec))
	s.step(t, timer)
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1, Thread: 1})
	s.step(t, pass(sec))
	s.refused(t, main, "paused")
	s.refused(t, ends(0), "no pause")
	s.step(t, pass(sec))
	s.step(t, ends(0))
	s.step(t, main)

	// A timer that another thread stops is not paused any more.
	s = newThreaded(t, "pause-thread=2", true, nil)
	s.step(t, faults.PauseThreadOf(1, 1, 0))
	s.step(t, pass(3*sec))
	s.step(t, main)
	s.refused(t, ends(1), "no pause")
	s.step(t, faults.PauseThreadOf(1, 0, 0))
	s.step(t, ends(0))

	// With a Timing it goes on late, as after a pause of its process.
	s = newThreaded(t, "pause-thread=1@5s", false, &simulator.Timing{Step: sec, Lateness: sec})
	s.step(t, faults.PauseThreadOf(1, 1, 0))
	s.step(t, pass(3*sec))
	s.step(t, main)
	s.step(t, pass(2*sec))
	s.step(t, ends(1))
	s.step(t, pass(sec))
	s.refused(t, pass(1), "due first")
	s.step(t, timer)
}
