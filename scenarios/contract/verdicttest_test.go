package contract_test

import (
	"fmt"
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
	"locklab/simulator/verdict/verdicttest"
)

// TestSecondOpinion: a linearizability checker that knows nothing of leases
// finds a mutex in a history exactly if our judges find no overlap in it, and a second
// judge charges what the first one finds.
func TestSecondOpinion(t *testing.T) {
	effort.Unwatched(t, "one goroutine judges")
	t.Parallel()
	overlaps, runs, charges := 0, 0, 0
	agree := func(t *testing.T, o *race.Outcome) {
		t.Helper()
		if o.History == nil {
			return
		}
		runs++
		overlap := slices.Contains(o.Judgement.Verdicts, verdict.Overlap)
		if overlap {
			overlaps++
		}
		if verdicttest.Linearizable(o.History) == overlap {
			t.Errorf("%s: OVERLAP is %t, and verdicttest differs", o.Trace.Link(), overlap)
		}
		if ours, theirs := found(o), charged(o); !slices.Equal(ours, theirs) {
			t.Errorf("%s: found %q, and verdicttest is %q", o.Trace.Link(), ours, theirs)
		}
		charges += len(found(o))
	}
	racetest.EveryCell(t, func(t *testing.T, e lock.Entry, sc race.Scenario, s race.Settings) {
		agree(t, racetest.PlayListed(t, e, sc, s))
	})
	for _, e := range algorithms.All() {
		if e.Holders != 0 {
			continue // no mutex, and no promise of one
		}
		_, sc := racetest.Cell(t, e.ID, "gc-pause")
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

// found lists what the judges found that verdicttest judges too.
func found(o *race.Outcome) (list []string) {
	for _, f := range o.Judgement.Findings {
		switch f.Verdict {
		case verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie:
			list = append(list, fmt.Sprint(f.Event, f.Verdict, f.Clients))
		}
	}
	slices.Sort(list)
	return list
}

// charged lists what verdicttest says, in the same words.
func charged(o *race.Outcome) (list []string) {
	for _, c := range verdicttest.Findings(o.History) {
		if c.Word != string(verdict.Orphan) { // a refusal alone is no finding
			list = append(list, fmt.Sprint(c.Event, c.Word, c.Clients))
		}
	}
	slices.Sort(list)
	return list
}
