package study_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/effort"
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
