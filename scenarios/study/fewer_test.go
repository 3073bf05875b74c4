package study_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// twinQuestion is a search of two clients with one attempt each, at any timing.
type twinQuestion struct {
	lock   lock.Entry
	budget string
	states int // a twin that has more is not compared
}

// ask asks for each lock with each budget.
func ask(locks []lock.Entry, states int, budgets ...string) (list []twinQuestion) {
	for _, e := range locks {
		for _, budget := range budgets {
			list = append(list, twinQuestion{e, budget, states})
		}
	}
	return list
}

// fewerStates compares searches with their twins, which keep something in their states: they
// find the same, in no more states, and at least one of them in fewer.
func fewerStates(t *testing.T, questions []twinQuestion, keep func(o *explore.Options)) {
	t.Helper()
	fewer := 0
	for _, q := range questions {
		b := small(q.lock, 2, 1, q.budget)
		b.Timing = study.AnyTiming
		cut := func(o *explore.Options) {
			o.MaxStates = q.states
			o.Unending = false // where a clock is read there is no end, and the search is cut
		}
		twin := searchedUpTo(t, q.lock, b, func(o *explore.Options) { cut(o); keep(o) })
		if !twin.Complete {
			t.Logf("%s, %s: cut", q.lock.ID, q.budget)
			continue
		}
		r := searchedUpTo(t, q.lock, b, cut)
		t.Logf("%s, %s: %d states, its twin %d", q.lock.ID, q.budget, r.States, twin.States)
		if got, want := listed(prices(r)), listed(prices(twin)); got != want || !r.Complete {
			t.Errorf("%s, %s: found are\n%s\nby its twin\n%s", q.lock.ID, q.budget, got, want)
		}
		if r.States > twin.States {
			t.Errorf("%s, %s: %d states, its twin %d", q.lock.ID, q.budget, r.States, twin.States)
		}
		if r.States < twin.States {
			fewer++
		}
	}
	if fewer == 0 {
		t.Error("no search has fewer states")
	}
}

// TestMergedHistories: clients that forget what their code does not show.
func TestMergedHistories(t *testing.T) {
	t.Parallel()
	locks := algorithms.All()
	if !effort.Exhaustive() {
		locks = []lock.Entry{racetest.Lock(t, "set-ifeq")}
	}
	fewerStates(t, ask(locks, 20_000, "crash=1"), func(o *explore.Options) { o.Plain.Histories = true })
}

// TestDropped: states without time-outs that cannot come, copies that nothing reads, how long ago their keys have ended, and
// versions that nobody compares.
func TestDropped(t *testing.T) {
	t.Parallel()
	of := func(id string, budgets ...string) []twinQuestion {
		return ask([]lock.Entry{racetest.Lock(t, id)}, 400_000, budgets...)
	}
	// where a time-out comes, or a copy is read, before the budget is spent and after it
	questions := append(of("token", "delay=1@3s", "lose-reply=1", "failover=1"), of("token-wait", "failover=1", "crash=1")...)
	if effort.Exhaustive() {
		questions = append(questions, of("token", "lose-request=1", "hang=1@5s", "restart=1@1s", "pause=1@3s", "split=1")...)
		questions = append(questions, of("setnx-expire", "failover=1", "restart=1@10s", "failover=1,node-clock=1@10s")...)
		questions = append(questions, of("token-wait", "split=1", "restart=1@1s", "delay=1@3s")...)
		questions = append(questions, of("zk-recheck", "expire-session=1", "lose-reply=1", "delay=1@3s")...)
		questions = append(questions, ask(algorithms.All(), 30_000, "crash=1")...)
	}
	fewerStates(t, questions, func(o *explore.Options) { o.Plain.Parts = true })
}
