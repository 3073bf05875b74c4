package study_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// TestDropped: a search that drops time-outs that cannot come, copies that nothing reads and
// versions that nobody compares finds what one finds that keeps them, in no more states.
func TestDropped(t *testing.T) {
	t.Parallel()
	type question struct {
		lock    lock.Entry
		budgets []string
		states  int // more are not searched
	}
	var all []question
	if racetest.Exhaustive() {
		for _, e := range algorithms.All() {
			all = append(all, question{e, []string{"crash=1"}, 30_000})
		}
	}
	ask := func(id string, budgets ...string) {
		all = append(all, question{racetest.Lock(t, id), budgets, 400_000})
	}
	// where a time-out comes, or a copy is read, before the budget is spent and after it
	ask("token", "delay=1@3s", "lose-reply=1")
	ask("token-wait", "failover=1", "crash=1")
	if racetest.Exhaustive() {
		ask("token", "lose-request=1", "hang=1@5s", "restart=1@1s", "pause=1@3s", "split=1")
		ask("token-wait", "split=1", "restart=1@1s", "delay=1@3s")
		ask("zk-recheck", "expire-session=1", "lose-reply=1", "delay=1@3s")
	}
	fewer := 0
	for _, q := range all {
		for _, budget := range q.budgets {
			b := small(q.lock, 2, 1, budget)
			b.Timing = study.AnyTiming
			cut := func(o *explore.Options) {
				o.MaxStates = q.states
				o.Unending = false // where a clock is read there is no end, and the search is cut
			}
			kept := searchedUpTo(t, q.lock, b, func(o *explore.Options) { cut(o); o.DropNothing = true })
			if !kept.Complete {
				t.Logf("%s, %s: cut", q.lock.ID, budget)
				continue
			}
			dropped := searchedUpTo(t, q.lock, b, cut)
			t.Logf("%s, %s: %d states, with all %d", q.lock.ID, budget, dropped.States, kept.States)
			if got, want := listed(prices(dropped)), listed(prices(kept)); got != want || !dropped.Complete {
				t.Errorf("%s, %s: found are\n%s\nwith all\n%s", q.lock.ID, budget, got, want)
			}
			if dropped.States > kept.States {
				t.Errorf("%s, %s: %d states, with all %d", q.lock.ID, budget, dropped.States, kept.States)
			}
			if dropped.States < kept.States {
				fewer++
			}
		}
	}
	if fewer == 0 {
		t.Error("no search has fewer states")
	}
}
