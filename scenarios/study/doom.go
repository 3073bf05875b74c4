package study

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Doom is the step of a run from which on everything that can follow ends in a harm; see
// explore.Doom.
type Doom struct {
	Harm verdict.Word
	// NoReturn is the first such step of Steps; 0: there is no way around the harm from the start on.
	NoReturn, Steps int
	At              time.Duration // true time after it
	// Event is the event of the run's history, from 1, beside which lanes show it; see reports.Look.
	Event int
}

// doomStates is the number of states that may follow a run before its doom is given up; they need
// some 200 MB.
const doomStates = 1_000_000

// DoomOn computes the doom of a trace that a search has found, for the harm that it comes
// to last. The trace of a race is refused: there the clock decides which step comes next, so
// that there is a single future. The lock need not be listed.
func DoomOn(ctx context.Context, entry lock.Entry, t simulator.Trace) (*Doom, error) {
	if t.Scenario != SearchID {
		return nil, i18n.Errorf("error.doom.race", "scenario", t.Scenario, "lock", t.Strategy)
	}
	o, err := ReplayOn(entry, t)
	if err != nil {
		return nil, err
	}
	b, err := ParseBounds(t.Settings)
	if err != nil {
		return nil, err
	}
	b.MaxStates = doomStates
	search, sim, err := b.simulator(entry)
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	d, err := explore.DoomOf(ctx, sim, search.Options(), t.Choices, "")
	if errors.Is(err, explore.ErrNoHarm) {
		return nil, i18n.Errorf("error.doom.harmless", "verdicts", o.Verdicts)
	}
	if err != nil {
		return nil, i18n.Errorf("error.doom.run", "cause", err)
	}
	out := &Doom{Harm: d.Harm, NoReturn: d.NoReturn, Steps: len(t.Choices)}
	run, events, before := schedule.Record(sim), 0, 0
	for _, c := range t.Choices[:d.NoReturn] {
		made, err := run.Step(c)
		if err != nil {
			return nil, err
		}
		before, events = events, events+len(made)
		out.At = run.World().Now()
	}
	if events == before { // time has passed without an event
		events++
	}
	out.Event = min(events, len(o.History.Events))
	return out, nil
}
