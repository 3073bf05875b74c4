package search_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestRecheck: the set of states that the fast search hands out is closed under the moves of the plain rules: of every
// lock without any hypothesis, and with all of them.
func TestRecheck(t *testing.T) {
	entries := locks(t, "setnx", "token", "getset", "zk-naive", "db-for-update")
	budgets := []string{"crash=1", "restart=1@1s"}
	if effort.Pushed() {
		entries = algorithms.All()
	}
	if effort.Exhaustive() {
		budgets = []string{"", "crash=1", "pause=1@5s", "delay=1@2s", "restart=1@1s", "failover=1"}
	}
	for _, entry := range entries {
		t.Run(entry.ID, func(t *testing.T) {
			t.Parallel()
			for _, budget := range budgets {
				recheck(t, entry, budget, explore.Plainest)
				recheck(t, entry, budget, explore.Plain{})
			}
		})
	}
}

func recheck(t *testing.T, entry lock.Entry, budget string, plain explore.Plain) {
	t.Helper()
	for _, timing := range []search.Mode{search.Lockstep, search.AnyTiming} {
		b := small(entry, 2, 1, budget)
		if search.CheckSearch(entry, b) != nil {
			return
		}
		b.Timing, b.Plain, b.Recheck, b.MaxStates = timing, plain, true, 8_000
		s, err := search.Explore(t.Context(), entry, b)
		if err != nil {
			t.Errorf("%s, %v, %+v: %v", budget, timing, plain, err)
			continue
		}
		if moves := s.Result.Rechecked; s.Result.Complete && moves < s.Result.Transitions {
			t.Errorf("%s, %v: %d moves of the plain rules, %d transitions", budget, timing, moves, s.Result.Transitions)
		}
	}
}
