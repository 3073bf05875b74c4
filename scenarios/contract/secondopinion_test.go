package contract_test

import (
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
	"locklab/simulator/verdict/secondopinion"
)

// TestSecondOpinion: a linearizability checker that knows nothing of leases
// finds a mutex in a history exactly if our judges find no overlap in it.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	overlaps, runs := 0, 0
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
		if secondopinion.Linearizable(o.History) == overlap {
			t.Errorf("%s: OVERLAP is %t, and the second opinion differs", o.Trace.Link(), overlap)
		}
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
		p, err := sc.Prepare(e, sc.Settings)
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
			run, err := p.Player.Play(p.Options(s))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, p.Outcome(run, s))
		}
	}
	if overlaps == 0 || overlaps == runs {
		t.Errorf("%d of %d runs overlap: agreement says nothing", overlaps, runs)
	}
}
