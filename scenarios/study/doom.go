package study

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Doom is the step of a run from which on everything that can follow ends in a harm; see explore.Doom.
type Doom struct {
	Harm verdict.Word
	// NoReturn is the first such step of Steps; 0: there is no way around the harm from the start on.
	NoReturn, Steps int
	At              time.Duration // true time after it
	// Event is the event of the run's history, from 1, beside which lanes show it; see reports.Look.
	Event int
}

// doomStates is the number of states that may follow a run before its doom is given up; they need some 200 MB.
const doomStates = 1_000_000

// DoomOn computes the doom of a trace that a search has found, for the harm that it comes to last. The trace of a race
// is refused: there the clock decides which step comes next: it has one future. The lock need not be listed.
func DoomOn(ctx context.Context, entry lock.Entry, t simulator.Trace) (*Doom, error) {
	if t.Race != search.SearchID {
		return nil, i18n.Errorf("error.doom.race", "race", t.Race, "lock", t.Lock)
	}
	o, err := search.ReplayOn(entry, t)
	if err != nil {
		return nil, err
	}
	b, err := search.ParseBounds(t.Settings)
	if err != nil {
		return nil, err
	}
	b.MaxStates = doomStates
	m, sim, err := b.Simulator(entry)
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	d, err := explore.DoomOf(ctx, sim, m.Options(), t.Choices, "")
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

// Certainty is the moment of a race's run from which its harm was certain: nothing more had to go wrong after it. A
// race has one future, since a clock decides what comes next, and nothing to count as [DoomOn] does for the run of a
// search. Certainty is found by playing the race with only its script's first triggers, until they suffice for harm.
type Certainty struct {
	Harm verdict.Word // the first of the run's verdicts
	// Event is the first event of the run's history, from 1, that the last necessary
	// trigger changes; 0: none is necessary, the race's settings suffice.
	Event int
}

// ErrNoHarm is returned for a run without harm.
var ErrNoHarm = errors.New("scenarios: this run comes to no harm")

// CertainFrom finds the certainty of a run of race.Play. The error is ErrNoHarm, or about code that cannot be run.
func CertainFrom(o *race.Outcome) (Certainty, error) {
	c := Certainty{}
	harm := slices.IndexFunc(o.Verdicts, verdict.Word.Broken)
	if harm < 0 || o.History == nil {
		return c, ErrNoHarm
	}
	c.Harm = o.Verdicts[harm]
	triggers := func() []race.Trigger { // made anew for each run
		if o.Race.Script == nil {
			return nil
		}
		return o.Race.Script(o.Settings, o.Lock.Nodes)
	}
	p, err := o.Race.Prepare(o.Lock, o.Settings, nil)
	if err != nil {
		return c, err
	}
	defer p.Close()
	for n := range len(triggers()) {
		run, err := p.PlayWith(o.Settings, triggers()[:n])
		if err != nil {
			return c, err
		}
		less := p.Outcome(run, o.Settings)
		if slices.Contains(less.Verdicts, c.Harm) {
			break
		}
		c.Event = 1 + firstDifference(less.History.Events, o.History.Events)
	}
	return c, nil
}

// firstDifference is the index of the first event in which two histories differ.
func firstDifference(a, b []history.Event) int {
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return i
		}
	}
	return max(0, min(len(a), len(b))-1)
}
