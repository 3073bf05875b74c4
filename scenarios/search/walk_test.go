package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// walks are ways to play a random run to its end. Each passes report the verdicts that it
// meets, with their cost.
var walks = []struct {
	name string
	walk func(t *testing.T, r *rules, seed uint64, report func(verdict.Word, price))
}{
	{"lawful", lawfulWalk},
	{"timed", timedWalk},
}

// TestExploreWalks: at bounds that are too large for a twin, random runs meet no verdict
// that the search excludes, and none with fewer faults than par.
func TestExploreWalks(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	const seeds = 400
	budgets := []string{"crash=1,lose-reply=1", "pause=1@5s", "client-clock=1@10s,crash=1", "crash=1,pause=1", "failover=1,lose-request=1", "node-clock=1@10s,restart=1"}
	met := map[string]bool{}
	for _, entry := range algorithms.Milestones() {
		clients, attempts, strikes := 3, 2, budgets
		if entry.Nodes > 1 {
			clients, attempts, strikes = 2, 1, budgets[:3] // the others take millions of states
		}
		for _, budget := range strikes {
			b := small(entry, clients, attempts, budget)
			t.Run(entry.ID+"/"+budget, func(t *testing.T) {
				found := prices(searched(t, entry, b, nil))
				r := rulesOf(t, entry, b)
				defer r.sim.Close()
				for _, way := range walks {
					for seed := range uint64(seeds) {
						way.walk(t, r, seed, func(w verdict.Word, p price) {
							met[fmt.Sprint(way.name, " ", w)] = true
							if known, ok := found[w]; !ok || p.less(known) {
								t.Errorf("%s walk %d meets %s for %d strikes and %d steps, the search finds %s", way.name, seed, w, p.par, p.steps, listed(found))
							}
						})
					}
				}
			})
		}
	}
	for _, way := range walks {
		for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock} {
			if name := fmt.Sprint(way.name, " ", w); !met[name] {
				t.Errorf("no walk: %s; that none meets what is impossible says little", name)
			}
		}
	}
}

// lawfulWalk picks among the choices that the rules of a search allow.
func lawfulWalk(t *testing.T, r *rules, seed uint64, report func(verdict.Word, price)) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := r.Start()
	for steps := 1; ; steps++ {
		choices := r.Allowed(&p)
		if len(choices) == 0 {
			return
		}
		_, words, err := r.Step(&p, choices[rng.IntN(len(choices))])
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			report(w, price{p.Strikes(), steps})
		}
	}
}

// timedWalk lets a clock decide. Messages take microseconds, so that all of them arrive
// before anything else is due, as in a search, and in a random order; pauses have any
// length, not only one that ends at a deadline. The steps of a verdict are those of the
// whole run.
func timedWalk(t *testing.T, r *rules, seed uint64, report func(verdict.Word, price)) {
	rng := rand.New(rand.NewPCG(seed, 1))
	last := 40 * r.bounds.TTL // by then all clients but the probe have ended
	run, err := schedule.Play(r.sim, schedule.Conditions{
		Seed: seed + 1, Latency: time.Microsecond, Lag: time.Microsecond, Horizon: 2 * last,
		Start: append(make([]time.Duration, r.bounds.Clients), last),
		Script: func(s *schedule.Stage, e *history.Event) {
			if c, ok := r.strike(s, rng); ok && rng.IntN(20) == 0 {
				s.Inject(0, c)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, strikes := r.Start(), 0
	for _, c := range run.Choices {
		if c.Verb >= simulator.FaultVerb {
			strikes++
		}
	}
	for _, w := range r.Judge(&p, run.Events) {
		report(w, price{strikes, len(run.Choices)})
	}
}

// strike is a fault that may be injected now.
func (r *rules) strike(s *schedule.Stage, rng *rand.Rand) (c simulator.Choice, ok bool) {
	choices := slices.DeleteFunc(r.sim.Enabled(s.World(), nil), func(c simulator.Choice) bool {
		return c.Verb < simulator.FaultVerb || int(c.Client) == r.probe
	})
	if len(choices) == 0 {
		return c, false
	}
	c = choices[rng.IntN(len(choices))]
	if c.Verb == faults.Pause.Verb {
		longest := 3 * r.bounds.TTL
		for _, a := range r.sim.Config().Faults {
			if a.Fault.Verb == c.Verb && a.Max > 0 {
				longest = a.Max
			}
		}
		c.D = time.Duration(1 + rng.Int64N(int64(longest)))
	}
	return c, true
}

// TestTwoShortPauses: two of that length leave too little before PTTL, or end too soon after it, although two shorter ones
// do not: the budget is at most.
func TestTwoShortPauses(t *testing.T) {
	// It works only if the server says that two thirds of the lease are left.
	wary := taking("wary", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		ok, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
		if err != nil || !ok {
			return false, err
		}
		left, err := env.Nodes[0].PTTL(ctx, key).Result()
		return left >= env.TTL*2/3, err
	})
	for _, budget := range []string{"pause=2@1500ms", "pause=2@1600ms"} {
		if par, ok := tried(t, wary, everyTiming(wary, 2, 1, budget), 0, nil)[verdict.Overlap]; !ok || par != 2 {
			t.Errorf("%s: OVERLAP@%d, %t, want @2", budget, par, ok)
		}
	}
}

// TestHalfTheStep: time that passes by half the step finds no more and no less.
func TestHalfTheStep(t *testing.T) {
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
func sampled(t *testing.T, entry lock.Entry, b search.Bounds, rng *rand.Rand, runs int) map[verdict.Word]int {
	t.Helper()
	search := racetest.Must(b.Model(entry))(t)
	search.Timing.Step = 0
	sim := racetest.Must(search.Simulator())(t)
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
