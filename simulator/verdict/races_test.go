package verdict_test

import (
	"fmt"
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	. "locklab/simulator/verdict"
)

// TestRaces: a linearizability checker that knows nothing of leases
// finds a mutex in a history exactly if our judges find no overlap in it, and a second
// judge finds what the first one finds.
func TestRaces(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds; one goroutine judges")
	t.Parallel()
	overlaps, runs, charges := 0, 0, 0
	agree := func(t *testing.T, o *race.Outcome) {
		t.Helper()
		if o.History == nil {
			return
		}
		runs++
		overlap := slices.Contains(o.Judgement.Verdicts, Overlap)
		if overlap {
			overlaps++
		}
		if linearizable(o.History) == overlap {
			t.Errorf("%s: OVERLAP is %t, and the second opinion differs", o.Trace.Link(), overlap)
		}
		if ours, theirs := foundIn(o), charged(o); !slices.Equal(ours, theirs) {
			t.Errorf("%s: found %q, and the second opinion is %q", o.Trace.Link(), ours, theirs)
		}
		charges += len(foundIn(o))
	}
	var runner race.Runner
	for _, sc := range scenarios.All() {
		for _, e := range algorithms.Milestones() {
			o, err := runner.Play(e, sc, sc.Settings)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, o)
		}
	}
	for _, e := range algorithms.All() {
		if e.Holders != 0 || e.Guard != "" {
			continue // no mutex, and no promise of one
		}
		sc, err := scenarios.ByName("gc-pause")
		if err != nil {
			t.Fatal(err)
		}
		sc.Settings.Clients = 3
		p, err := sc.Prepare(e, sc.Settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for seed := range uint64(20) {
			s := sc.Settings
			s.Seed = seed
			if seed%2 == 1 { // short enough to do no harm, so that both answers occur
				s.Pause = s.TTL / 2
			}
			run, err := p.Play(s)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, p.Outcome(run, s))
		}
	}
	if charges == 0 {
		t.Error("nobody is charged with anything: agreement says nothing")
	}
	if overlaps == 0 || overlaps == runs {
		t.Errorf("%d of %d runs overlap: agreement says nothing", overlaps, runs)
	}
}

// foundIn lists what the judges found that the second opinion judges too.
func foundIn(o *race.Outcome) (list []string) {
	for _, f := range o.Judgement.Findings {
		switch f.Verdict {
		case StaleWrite, Fenced, WrongDel, Lie:
			list = append(list, fmt.Sprint(f.Event, f.Verdict, f.Clients))
		}
	}
	slices.Sort(list)
	return list
}

// charged lists what the second opinion says, in the same words.
func charged(o *race.Outcome) (list []string) {
	for _, c := range violations(o.History) {
		if c.Word != string(Orphan) { // a refusal alone is no finding
			list = append(list, fmt.Sprint(c.Event, c.Word, c.Clients))
		}
	}
	slices.Sort(list)
	return list
}
