// Package schedule holds the ways to pick among what may happen next: by the
// clock, with a story's hand on it (Play), and from a saved list (Replay).
package schedule

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

// Options say how the clock runs and whose hand is on it.
type Options struct {
	// Seed 0 makes every message take exactly Latency. Any other seed samples:
	// half of Latency plus an exponential of the same mean, at most ten times
	// Latency. Each client has a stream of its own, so that one more command of
	// one client changes nothing for the others.
	Seed    uint64
	Latency time.Duration // mean one-way delay of a message, at least 0
	// Lag is how long after a change a replica hears of it; simulator.Never: not
	// at all.
	Lag time.Duration
	// Start is when each client begins, true time; missing ones begin at 0.
	Start []time.Duration
	// Horizon ends the run, above 0, true time.
	Horizon time.Duration
	// Script is told every event and may interfere; nil: nobody does.
	Script func(s *Stage, e *history.Event)
}

// A Run is a finished one.
type Run struct {
	Choices []simulator.Choice
	Events  []history.Event
	End     time.Duration // true time
	Horizon bool          // ended by the clock, with somebody left
	Missed  []error       // strikes of the script that could not happen
}

// ErrEndless is a run that goes on without time passing: client code that
// tries again and again without sleeping.
var ErrEndless = errors.New("schedule: the run does not come to an end")

const maxChoices = 1_000_000

// Stage is a running run, as its script sees it.
type Stage struct {
	lab     *simulator.Lab
	opt     Options
	world   simulator.World
	run     *Run
	enabled []simulator.Choice
	actions []action // of the script, not done yet, by time and order of asking
	arrival [simulator.MaxClients + 1][simulator.MaxThreads]time.Duration
	server  [simulator.MaxClients + 1][simulator.MaxThreads]int // whom the message under way concerns
	held    [simulator.MaxClients + 1][simulator.MaxThreads]bool
	copying [simulator.MaxNodes + 1]time.Duration // when a replica catches up; 0: nothing to copy
	late    map[int8]time.Duration
	pcg     [simulator.MaxClients + 1]rand.PCG
	rng     [simulator.MaxClients + 1]*rand.Rand
}

type action struct {
	at time.Duration
	do func()
}

// Play plays one run by the clock: whatever is due first happens first; of what
// is due at once, what Enabled lists first.
func Play(lab *simulator.Lab, opt Options) (*Run, error) {
	s := &Stage{lab: lab, opt: opt, world: lab.NewWorld(), run: &Run{}}
	s.late = map[int8]time.Duration{}
	for c := range s.rng {
		s.pcg[c].Seed(opt.Seed, uint64(c))
		s.rng[c] = rand.New(&s.pcg[c])
	}
	return s.run, s.play()
}

func (s *Stage) play() error {
	for !s.lab.Quiet(&s.world) {
		if len(s.run.Choices) >= maxChoices {
			return fmt.Errorf("%w (%d choices, %v of true time)", ErrEndless, maxChoices, s.world.Now())
		}
		more, err := s.next()
		if err != nil {
			return err
		}
		if !more {
			s.run.Horizon = true
			break
		}
	}
	s.run.End = s.world.Now()
	return nil
}

// next does one thing; false: the horizon is reached.
func (s *Stage) next() (bool, error) {
	if len(s.actions) > 0 && s.actions[0].at <= s.world.Now() {
		do := s.actions[0].do
		s.actions = s.actions[1:]
		do()
		return true, nil
	}
	s.enabled = s.lab.Enabled(&s.world, s.enabled[:0])
	best, when := -1, simulator.Never
	for i, c := range s.enabled {
		if t := s.due(c); t < when {
			best, when = i, t
		}
	}
	if best >= 0 && when <= s.world.Now() {
		return true, s.step(s.enabled[best])
	}
	when = min(when, s.lab.Next(&s.world), s.opt.Horizon)
	if len(s.actions) > 0 {
		when = min(when, s.actions[0].at)
	}
	if when <= s.world.Now() {
		return false, nil
	}
	return true, s.step(simulator.Choice{Verb: simulator.Pass, D: when - s.world.Now()})
}

// due is when an enabled choice is to happen; Never: not by the clock.
func (s *Stage) due(c simulator.Choice) time.Duration {
	switch c.Verb {
	case simulator.Start:
		if i := int(c.Client) - 1; i < len(s.opt.Start) {
			return s.opt.Start[i]
		}
		return 0
	case simulator.Arrive, simulator.Answer:
		if s.held[c.Client][c.Thread] {
			return simulator.Never
		}
		return s.arrival[c.Client][c.Thread]
	case simulator.Wake, simulator.GiveUp, simulator.Resume:
		return s.world.Now()
	case simulator.Late:
		t, ok := s.late[c.Thread]
		if !ok {
			t = s.world.Now() + s.opt.Latency
			s.late[c.Thread] = t
		}
		return t
	case simulator.Replicate:
		return s.copying[c.Node]
	}
	return simulator.Never
}

func (s *Stage) step(c simulator.Choice) error {
	events, err := s.lab.Step(&s.world, c)
	if err != nil {
		return err
	}
	if c.Verb == simulator.Late {
		delete(s.late, c.Thread)
	}
	s.run.Choices = append(s.run.Choices, c)
	first := len(s.run.Events)
	s.run.Events = append(s.run.Events, events...)
	for i := first; i < len(s.run.Events); i++ {
		e := &s.run.Events[i]
		s.plan(e)
		if s.opt.Script != nil {
			s.opt.Script(s, e)
		}
	}
	return nil
}

// plan decides when the messages that e put under way arrive.
func (s *Stage) plan(e *history.Event) {
	switch e.Kind {
	case history.Send:
		s.arrival[e.Client][e.Thread] = e.At + s.latency(e.Client)
		s.server[e.Client][e.Thread] = e.Msg
	case history.Apply, history.Read, history.Write:
		for t, msg := range s.server[e.Client] {
			if msg == e.Msg {
				s.arrival[e.Client][t] = e.At + s.latency(e.Client)
			}
		}
	case history.Change, history.Expire:
		if s.copying[e.Node] <= e.At {
			s.copying[e.Node] = simulator.Never
			if s.opt.Lag < simulator.Never-e.At {
				s.copying[e.Node] = e.At + s.opt.Lag
			}
		}
	}
}

func (s *Stage) latency(client int) time.Duration {
	if s.opt.Seed == 0 {
		return s.opt.Latency
	}
	half := float64(s.opt.Latency) / 2
	return min(time.Duration(half+half*s.rng[client].ExpFloat64()), 10*s.opt.Latency).Truncate(time.Microsecond)
}

// World is the world as it stands.
func (s *Stage) World() *simulator.World { return &s.world }

// After does something d of true time from now, at the earliest after what
// happens at this instant has been told to the script.
func (s *Stage) After(d time.Duration, do func()) {
	at := s.world.Now() + d
	i := len(s.actions)
	for i > 0 && s.actions[i-1].at > at {
		i--
	}
	s.actions = append(s.actions, action{})
	copy(s.actions[i+1:], s.actions[i:])
	s.actions[i] = action{at, do}
}

// Strike makes a fault happen, d of true time from now.
func (s *Stage) Strike(d time.Duration, c simulator.Choice) {
	s.After(d, func() {
		if err := s.step(c); err != nil {
			s.run.Missed = append(s.run.Missed, err)
		}
	})
}

// Hold keeps the message that client's thread waits for under way until
// Deliver. The client may give up waiting meanwhile.
func (s *Stage) Hold(client, thread int) { s.held[client][thread] = true }

// Deliver lets a held message go on, now.
func (s *Stage) Deliver(client, thread int) {
	s.held[client][thread] = false
	s.arrival[client][thread] = s.world.Now()
}
