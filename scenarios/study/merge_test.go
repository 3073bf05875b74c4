package study_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// TestMergedHistories: a search in which clients forget what their code does not show finds
// what one finds in which they keep it, in no more states.
func TestMergedHistories(t *testing.T) {
	t.Parallel()
	locks := algorithms.All()
	if !racetest.Exhaustive() {
		locks = []lock.Entry{racetest.Lock(t, "set-ifeq")}
	}
	fewer := 0
	for _, e := range locks {
		b := small(e, 2, 1, "crash=1")
		b.Timing = study.AnyTiming
		cut := func(o *explore.Options) {
			o.MaxStates = 20_000
			o.Unending = false // where a clock is read there is no end, and the search is cut
		}
		all := searchedUpTo(t, e, b, func(o *explore.Options) { cut(o); o.AllHistories = true })
		if !all.Complete {
			continue
		}
		merged := searchedUpTo(t, e, b, cut)
		if got, want := listed(prices(merged)), listed(prices(all)); got != want || !merged.Complete {
			t.Errorf("%s: found are\n%s\nwith all histories\n%s", e.ID, got, want)
		}
		if merged.States > all.States {
			t.Errorf("%s: %d states, with all histories %d", e.ID, merged.States, all.States)
		}
		if merged.States < all.States {
			fewer++
		}
	}
	if fewer == 0 {
		t.Error("no search has fewer states")
	}
}
