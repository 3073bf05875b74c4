package study_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// growing are budgets of one kind of fault; each allows all that the one before it does.
// Some bounds are no whole number of steps, which are 750ms.
var growing = [][]string{
	{"crash=1", "crash=2"},
	{"pause=1@500ms", "pause=1@3s", "pause=1@3100ms", "pause=1@9s", "pause=1", "pause=2"},
	{"delay=1@500ms", "delay=1@3s", "delay=1@9s", "delay=1@10s", "delay=2@10s"},
	{"hang=1@500ms", "hang=1@3s", "hang=1@10s", "hang=2@10s"},
	{"restart=1", "restart=1@1s", "restart=1@10s", "restart=2@10s"},
	{"node-clock=1@1s", "node-clock=1@3s", "node-clock=1@10s", "node-clock=2@10s"},
	{"client-clock=1@1s", "client-clock=1@10s"},
	{"lose-reply=1", "lose-reply=2"},
	{"lose-request=1", "lose-request=2"},
	{"failover=1", "failover=1,restart=1"},
}

// tried is what a search within b finds, with the fewest faults of each; nil: it is not
// complete within some states. change may change its timing.
func tried(t *testing.T, entry lock.Entry, b study.Bounds, states int, change func(*explore.Durations)) map[verdict.Word]int {
	t.Helper()
	b.MaxStates = states
	search, err := b.Model(entry)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(search.Timing)
	}
	r, err := explore.Search(t.Context(), search)
	if errors.Is(err, explore.ErrReadsClock) {
		b.Idle = true
		return tried(t, entry, b, states, change)
	}
	if err != nil {
		t.Fatalf("%s, %v: %v", entry.ID, b, err)
	}
	if !r.Complete {
		return nil
	}
	pars := map[verdict.Word]int{}
	for _, w := range r.Found {
		pars[w.Verdict] = w.Par
	}
	return pars
}

// TestMoreBudgetFindsNoLess: what a fault can do, it can do with a larger budget, and with
// as few strikes. A search that is too large to complete ends a list.
func TestMoreBudgetFindsNoLess(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks, chains, states := []lock.Entry{racetest.Lock(t, "setnx-expire")}, growing[2:5], 20_000
	if effort.Exhaustive() {
		locks, chains, states = algorithms.All(), growing, 8_000
	}
	for _, entry := range locks {
		t.Run(entry.ID, func(t *testing.T) {
			t.Parallel()
			none := tried(t, entry, everyTiming(entry, 2, 1, ""), states, nil)
			if none == nil {
				t.Skip("it is too large to search")
			}
			for _, chain := range chains {
				before, of := none, "no fault"
				for _, budget := range chain {
					found := tried(t, entry, everyTiming(entry, 2, 1, budget), states, nil)
					if found == nil {
						break
					}
					if in := weaker(found, before); in != nil {
						t.Errorf("%s finds %v, %s finds more: %v", budget, found, of, in)
					}
					before, of = found, budget
				}
			}
		})
	}
}

// TestBudgetIsAtMost: what a shorter fault does, a budget that allows a longer one finds.
func TestBudgetIsAtMost(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	// It works only if the server says that two thirds of the lease are left.
	wary := own("wary", func(env lock.Env) lock.Strategy {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			node := env.Nodes[0]
			ok, err := node.SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
			if err != nil || !ok {
				return nil, errors.Join(err, lock.ErrNotAcquired)
			}
			left, err := node.PTTL(ctx, key).Result()
			if err != nil || left < env.TTL*2/3 {
				return nil, errors.Join(err, lock.ErrNotAcquired)
			}
			return reporting(func(ctx context.Context) error { return lost(node.Del(ctx, key).Result()) }), nil
		})
	})
	for _, test := range []struct {
		entry  lock.Entry
		budget string
		want   verdict.Word
		par    int
	}{
		{racetest.Lock(t, "token"), "restart=1@1s", verdict.Overlap, 1},
		{racetest.Lock(t, "token"), "restart=1@10s", verdict.Overlap, 1}, // a key that is lost is back within a lease
		{racetest.Lock(t, "setnx-expire"), "delay=1@9s", verdict.WrongDel, 1},
		{racetest.Lock(t, "setnx-expire"), "delay=1@10s", verdict.WrongDel, 1}, // a DEL that comes later finds nothing
		{wary, "pause=2@1500ms", verdict.Overlap, 2},
		{wary, "pause=2@1600ms", verdict.Overlap, 2}, // two of that length leave too little before PTTL, or end too soon after it
	} {
		if par, ok := tried(t, test.entry, everyTiming(test.entry, 2, 1, test.budget), 0, nil)[test.want]; !ok || par != test.par {
			t.Errorf("%s, %s: %s@%d, %t, want @%d", test.entry.ID, test.budget, test.want, par, ok, test.par)
		}
	}
}

// TestReplySurvives: a reply under way when its connection breaks may arrive. Where it is
// lost, nobody has the stamp that getset's SETNX has made and the restart has deleted.
func TestReplySurvives(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	pars := foundBy(t, "getset", small(racetest.Lock(t, "getset"), 2, 2, "crash=1,restart=1"))
	if par, ok := pars[verdict.Orphan]; !ok || par != 2 {
		t.Errorf("getset finds %v, want ORPHAN@2", pars)
	}
}

// TestHalfTheStep: time that passes by half the step finds no more and no less.
func TestHalfTheStep(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	locks, budgets, states := []lock.Entry{racetest.Lock(t, "token"), racetest.Lock(t, "setnx-expire")}, []string{"", "pause=1@5s", "delay=1@2s", "restart=1@1s"}, 10_000
	if effort.Exhaustive() {
		locks, states = algorithms.All(), 7_000
		budgets = append(budgets, "crash=1", "hang=1@2s", "node-clock=1@10s", "lose-reply=1")
	}
	compared := map[string]bool{}
	for _, entry := range locks {
		for _, budget := range budgets {
			b := everyTiming(entry, 2, 1, budget)
			want := tried(t, entry, b, states, nil)
			if want == nil && budget == "" {
				break // no larger one is complete
			}
			if want == nil {
				continue
			}
			got := tried(t, entry, b, 8*states, func(timing *explore.Durations) { timing.Step /= 2 })
			if got == nil {
				continue
			}
			compared[entry.ID] = true
			if in := append(weaker(got, want), weaker(want, got)...); in != nil {
				t.Errorf("%s, %s: by half the step it finds %v, else %v", entry.ID, budget, got, want)
			}
		}
	}
	if len(compared) < len(locks)/3 { // those that read clocks, or use five servers or sessions, are too large
		t.Errorf("only %d of %d locks were searched", len(compared), len(locks))
	}
}

// TestRandomTimes plays random runs at times of no grid, with faults of random lengths: none
// comes to a verdict that a complete search calls impossible, or by fewer faults.
func TestRandomTimes(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	ids, budgets, runs := []string{"token", "setnx-expire"}, []string{"pause=1", "delay=1@10s"}, 1000
	if effort.Exhaustive() {
		ids = append(ids, "setnx", "constant", "reentrant", "redisson-lease", "watch-del", "thread-id-lua")
		budgets = append(budgets, "", "crash=1", "pause=1@3s", "pause=1@5s", "delay=1@2s", "hang=1@10s", "restart=1@10s", "node-clock=1@10s", "failover=1", "lose-reply=1")
		runs = 1500
	}
	met := map[verdict.Word]bool{}
	for _, id := range ids {
		for _, budget := range budgets {
			entry := racetest.Lock(t, id)
			b := everyTiming(entry, 2, 1, budget)
			possible := tried(t, entry, b, 100_000, nil)
			if possible == nil {
				continue
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for w, strikes := range sampled(t, entry, b, rng, runs) {
				met[w] = true
				if par, ok := possible[w]; !ok || par > strikes {
					t.Errorf("%s, %s: %s by %d faults at some time; the search finds %v", id, budget, w, strikes, possible)
				}
			}
		}
	}
	for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Orphan} {
		if !met[w] {
			t.Errorf("no random run comes to %s", w)
		}
	}
}

// sampled is what random runs come to, with the fewest faults of each.
func sampled(t *testing.T, entry lock.Entry, b study.Bounds, rng *rand.Rand, runs int) map[verdict.Word]int {
	t.Helper()
	search, err := b.Model(entry)
	if err != nil {
		t.Fatal(err)
	}
	search.Timing.Step = 0
	sim, err := search.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	opt := search.Options()
	opt.Step = simulator.Never
	r := explore.NewRules(sim, &opt)
	found := map[verdict.Word]int{}
	for range runs {
		p := r.Start()
		passes, strikes := rng.Float64(), rng.Float64()/4
		for range 300 {
			c, ok := picked(r.Allowed(&p), rng, passes, strikes)
			if !ok {
				break
			}
			_, words, err := r.Step(&p, c)
			if err != nil {
				t.Fatalf("%s, %v: %s: %v", entry.ID, b, sim.Describe(c), err)
			}
			for _, w := range words {
				if least, ok := found[w]; !ok || p.Strikes() < least {
					found[w] = p.Strikes()
				}
			}
		}
	}
	return found
}

// picked is a choice at random, time passing and faults with these shares. Time passes, and
// clocks jump, by anything up to the length of the choice.
func picked(allowed []simulator.Choice, rng *rand.Rand, passes, strikes float64) (c simulator.Choice, ok bool) {
	kinds := [3][]simulator.Choice{}
	for _, c := range allowed {
		switch {
		case c.Verb == simulator.Pass:
			kinds[0] = append(kinds[0], c)
		case c.Verb >= simulator.FaultVerb:
			kinds[1] = append(kinds[1], c)
		default:
			kinds[2] = append(kinds[2], c)
		}
	}
	kind := 2
	switch {
	case len(kinds[1]) > 0 && rng.Float64() < strikes:
		kind = 1
	case len(kinds[0]) > 0 && (len(kinds[2]) == 0 || rng.Float64() < passes):
		kind = 0
	}
	if len(kinds[kind]) == 0 {
		return c, false
	}
	c = kinds[kind][rng.IntN(len(kinds[kind]))]
	length := c.D
	if rng.IntN(2) == 0 && (kind == 0 || strings.Contains(fmt.Sprint(c), "clock")) {
		c.D = time.Duration(float64(length) * rng.Float64())
	}
	if c.D == 0 {
		c.D = length
	}
	return c, true
}

// TestCertificateRoundsAloud: a bound that is no whole number of steps is named with what it
// counts for.
func TestCertificateRoundsAloud(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for budget, want := range map[string]string{"pause=1@3100ms": "3s for pause of 3.1s", "hang=1@500ms": "0s for hang of 500ms", "delay=1@3s": ""} {
		s, err := study.Explore(t.Context(), racetest.Lock(t, "token"), everyTiming(racetest.Lock(t, "token"), 2, 1, budget))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(certificate.Assumed(s, "en"), "\n")
		if want == "" && strings.Contains(text, "whole steps") || !strings.Contains(text, want) {
			t.Errorf("%s: the certificate assumes\n%s\nwant %q", budget, text, want)
		}
	}
}
