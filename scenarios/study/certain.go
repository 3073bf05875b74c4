package study

import (
	"errors"
	"reflect"
	"slices"

	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Certainty is the moment of a race's run from which its harm was certain: from
// then on nothing more had to go wrong. In a race a clock says what comes next, so
// there is one future and no share to count, as [DoomOf] does for what a search has
// found; but the story's hand can be stayed. Certainty is found by playing the race
// with the first beats of its script only, until they suffice for the harm.
type Certainty struct {
	Harm verdict.Word // the first of the run's verdicts
	// Event is the event of the run's history, from 1, with which the last beat that
	// was needed made itself felt; 0: the harm needs none, the race's numbers suffice.
	Event int
}

// ErrNoHarm is a run that came to no harm.
var ErrNoHarm = errors.New("scenarios: this run comes to no harm")

// CertainFrom finds the certainty of a run that Play has made.
func CertainFrom(o *race.Outcome) (Certainty, error) {
	c := Certainty{}
	for _, w := range o.Verdicts {
		if w.Broken() && c.Harm == "" {
			c.Harm = w
		}
	}
	if c.Harm == "" || o.History == nil {
		return c, ErrNoHarm
	}
	beats := func() []race.Trigger { // made anew for each run
		if o.Scenario.Script == nil {
			return nil
		}
		return o.Scenario.Script(o.Settings, o.Strategy.Nodes)
	}
	p, err := o.Scenario.Prepare(o.Strategy, o.Settings)
	if err != nil {
		return c, err
	}
	defer p.Close()
	for n := range len(beats()) {
		opt := p.Options(o.Settings)
		opt.Script = race.RunTriggers(beats()[:n])
		run, err := p.Player.Play(opt)
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

// firstDifference is the first event at which two histories part.
func firstDifference(a, b []history.Event) int {
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return i
		}
	}
	return max(0, min(len(a), len(b))-1)
}
