package locktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/verdict"
)

// Sample plays random schedules of code that a search cannot carry because it is not
// deterministic, or has too many states. It can find what breaks a lock, and proves nothing: it fails where a schedule
// comes to another verdict than finds names, or none comes to one of these. Numbers of faults count for nothing.
func Sample(t *testing.T, b Bounds, client func(*Client), finds ...string) {
	t.Helper()
	if child.IsAgain() {
		return
	}
	switch {
	case b.AnyTiming:
		must(t, text.Errorf("locktest.sample.timing"))
	case b.Clients == Any:
		must(t, text.Errorf("locktest.sample.any"))
	}
	p, err := newPlan(t, b, client)
	must(t, err)
	all := ready(p, finds)
	found, n, err := p.sample()
	if err != nil {
		t.Fatal(explain(err))
	}
	for _, c := range all {
		t.Run(c.test(), func(t *testing.T) {
			if o := found[c.word]; o != nil && c.par == never {
				t.Error(tell("locktest.sample.broken", "verdict", string(c.word), "n", fmt.Sprint(n)) + "\n" + show(o))
			} else if o == nil && c.par != never {
				t.Error(tell("locktest.sample.holds", "verdict", string(c.word), "n", fmt.Sprint(n)))
			}
		})
	}
	t.Log(tell("locktest.sample.done", "n", fmt.Sprint(n)))
}

// sample plays random schedules and keeps the shortest that has come to each verdict.
func (p *plan) sample() (found map[verdict.Word]*race.Outcome, n int, err error) {
	p.run.once, p.Timed, p.run.watch = true, true, true
	defer func() { p.run.once, p.run.watch = false, false }()
	found = map[verdict.Word]*race.Outcome{}
	for n = range schedules {
		o, err := p.sampleOne(rand.New(rand.NewPCG(1, uint64(n))))
		if err != nil {
			return found, n, text.Errorf("locktest.sample.at", "n", n, "cause", err)
		}
		for _, w := range o.Verdicts {
			if found[w] == nil || len(o.Trace.Choices) < len(found[w].Trace.Choices) {
				found[w] = o
			}
		}
	}
	return found, schedules, nil
}

// schedules is the number of those that are sampled, and maxChoices ends one.
var schedules, maxChoices = 1000, 400

// sampleOne plays one random schedule.
func (p *plan) sampleOne(rng *rand.Rand) (o *race.Outcome, err error) {
	bounds := p.study
	bounds.Timing = search.Lockstep
	err = p.simulate(bounds, false, func(s *simulation) error {
		for made := 0; made < maxChoices; {
			c, ok := s.pick(rng)
			if !ok {
				break
			}
			switch _, err := s.step(c); {
			case err == nil:
				made++
			case !errors.As(err, new(*simulator.NotEnabledError)):
				return err
			}
		}
		o = s.soFar()
		return nil
	})
	return o, err
}

// pick takes one of the enabled choices: mostly one that goes on. Time passes, or a pause
// ends, where nothing else is to be done; the probe begins last.
func (s *simulation) pick(rng *rand.Rand) (c simulator.Choice, ok bool) {
	var kinds [4][]simulator.Choice // faults, what goes on, what lets time pass, and the probe
	for _, c := range s.Simulator.Enabled(s.run.World(), nil) {
		kind, ofProbe := 1, int(c.Client) == s.model.Clients+1
		switch {
		case c.Verb >= simulator.FaultVerb && ofProbe:
			continue
		case c.Verb >= simulator.FaultVerb:
			kind = 0
		case c.Verb == simulator.Pass || c.Verb == simulator.Resume:
			kind = 2
		case c.Verb == simulator.Start && ofProbe:
			kind = 3
		}
		kinds[kind] = append(kinds[kind], c)
	}
	for kind, choices := range kinds {
		if len(choices) > 0 && (kind > 0 || rng.IntN(15) == 0) {
			return choices[rng.IntN(len(choices))], true
		}
	}
	return c, false
}
