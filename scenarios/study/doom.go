package study

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Doom is how much of a run's future was lost after each of its steps; see
// explore.Doom.
type Doom struct {
	History  *history.History // of the run
	Harm     verdict.Word
	Steps    []DoomStep // the first is the start, before any choice
	NoReturn int        // the first step after which everything ends in the harm
	States   int        // of the graph of what can follow
}

// A DoomStep is one choice of a run and what is left after it.
type DoomStep struct {
	At     time.Duration // true time after it
	Events int           // of the run's history, up to and with it
	Fault  bool          // a fault was injected
	Share  float64       // share of what can follow that ends in the harm
}

// NoReturnEvent is the event of the history, from 1, beside which lanes show the
// point of no return; see reports.Look.
func (d *Doom) NoReturnEvent() int {
	if d.NoReturn < 1 || d.NoReturn >= len(d.Steps) {
		return 1
	}
	events, before := d.Steps[d.NoReturn].Events, d.Steps[d.NoReturn-1].Events
	if events == before { // time has passed without an event
		events++
	}
	return min(max(events, 1), len(d.History.Events))
}

// doomStates is the number of states that may follow a run before its doom is given up; they need
// some 200 MB.
const doomStates = 1_000_000

// DoomOn computes the doom of a trace that a search has found, for a harm that it comes
// to; "": the last one. The trace of a race is refused: there the clock decides which
// step comes next, so that there is a single future. The lock need not be listed.
func DoomOn(ctx context.Context, entry lock.Entry, t simulator.Trace, harm verdict.Word) (*Doom, error) {
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
	d, err := explore.DoomOf(ctx, sim, search.Options(), t.Choices, harm)
	if errors.Is(err, explore.ErrNoHarm) {
		return nil, i18n.Errorf("error.doom.harmless", "verdicts", o.Verdicts)
	}
	if err != nil {
		return nil, i18n.Errorf("error.doom.run", "cause", err)
	}
	out := &Doom{History: o.History, Harm: d.Harm, NoReturn: d.NoReturn, States: d.States}
	run, step := schedule.Record(sim), DoomStep{}
	for n, share := range d.Shares {
		if n > 0 {
			events, err := run.Step(t.Choices[n-1])
			if err != nil {
				return nil, err
			}
			step.Events += len(events)
			step.Fault = t.Choices[n-1].Verb >= simulator.FaultVerb
		}
		step.At, step.Share = run.World().Now(), share
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}
