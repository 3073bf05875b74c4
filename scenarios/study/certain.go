package study

import (
	"errors"
	"reflect"
	"slices"

	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Certainty is the moment of a race's run from which its harm was certain: nothing
// more had to go wrong after it. A race has a single future, since a clock decides what
// comes next, and nothing to count as [DoomOn] does for the run of a search. Certainty
// is found by playing the race with only the first triggers of its script, until they
// suffice for the harm.
type Certainty struct {
	Harm verdict.Word // the first of the run's verdicts
	// Event is the first event of the run's history, from 1, that the last necessary
	// trigger changes; 0: none is necessary, the race's settings suffice.
	Event int
}

// ErrNoHarm is returned for a run without harm.
var ErrNoHarm = errors.New("scenarios: this run comes to no harm")

// CertainFrom finds the certainty of a run that race.Play has made. The error is
// ErrNoHarm, or about code that the simulator cannot run.
func CertainFrom(o *race.Outcome) (Certainty, error) {
	c := Certainty{}
	harm := slices.IndexFunc(o.Verdicts, verdict.Word.Broken)
	if harm < 0 || o.History == nil {
		return c, ErrNoHarm
	}
	c.Harm = o.Verdicts[harm]
	triggers := func() []race.Trigger { // made anew for each run
		if o.Scenario.Script == nil {
			return nil
		}
		return o.Scenario.Script(o.Settings, o.Strategy.Nodes)
	}
	p, err := o.Scenario.Prepare(o.Strategy, o.Settings, nil)
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
