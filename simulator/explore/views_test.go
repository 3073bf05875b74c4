package explore_test

import (
	"testing"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// viewModel is that of a proof for any number of clients.
func viewModel(t testing.TB, id, budget string) *explore.Model {
	t.Helper()
	entry := lockOf(t, id)
	b := study.DefaultBounds()
	b.Timing, b.Attempts, b.Retries, b.Clients, b.Budget, b.Nodes, b.Uses = study.AnyTiming, 1, 0, 5, faults.Budget(budget), 1, 0
	m, err := b.Settled(entry).Model(entry)
	if err != nil {
		t.Fatal(err)
	}
	m.NoProbe = true
	return m
}

// TestViewsCover: every client of every state of two, three and four clients is in one of the views.
func TestViewsCover(t *testing.T) {
	for _, id := range []string{"setnx", "setnx-expire", "token", "lock-delay"} {
		for _, budget := range []string{"", "crash=1", "pause=1@2s", "lose-reply=1", "lose-request=1", "restart=1", "crash=2", "delay=1@2s", "failover=1"} {
			for clients := 2; clients <= 4; clients++ {
				states, missing, found, err := explore.Uncovered(t.Context(), viewModel(t, id, budget), false, clients, 1500)
				if err != nil {
					t.Fatal(err)
				}
				t.Log(id, budget, clients, states, missing, found)
				if missing > 0 {
					t.Errorf("%s, %s, %d clients: %d of the views in %d states are not known", id, budget, clients, missing, states)
				}
			}
		}
	}
}

func lockOf(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, err := race.Strategy(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
