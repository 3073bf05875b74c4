package search_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// TestTimedRuns: at bounds that are too large for a twin, random runs that a clock schedules meet no verdict that the
// search excludes, and none with fewer faults. Runs at any timing are those of package dense.
func TestTimedRuns(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	budgets := []string{"crash=1,lose-reply=1", "pause=1@5s", "client-clock=1@10s,crash=1", "crash=1,pause=1",
		"failover=1,lose-request=1", "node-clock=1@10s,restart=1"}
	met := map[verdict.Word]bool{}
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
				for seed := range uint64(400) {
					words, strikes := r.timed(t, seed)
					for _, w := range words {
						met[w] = true
						if known, ok := found[w]; !ok || strikes < known.par {
							t.Errorf("run %d meets %s by %d faults, the search finds %s",
								seed, w, strikes, listed(found))
						}
					}
				}
			})
		}
	}
	for _, w := range explore.Provable {
		if !met[w] {
			t.Errorf("no run meets %s; that none meets what is impossible says little", w)
		}
	}
}

// timed is what a run comes to that a clock schedules, and its faults. Messages take microseconds, so that all of them
// arrive before anything else is due, as in a search, and in a random order; pauses have any length, not only one that
// ends at a deadline.
func (r *rules) timed(t *testing.T, seed uint64) (words []verdict.Word, strikes int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	last := 40 * r.bounds.TTL // by then all clients but the probe have ended
	run := racetest.Must(schedule.NewPlayer(r.sim).Play(schedule.Conditions{
		Seed: seed + 1, Latency: time.Microsecond, Lag: time.Microsecond, Horizon: 2 * last,
		Start: append(make([]time.Duration, r.bounds.Clients), last),
		Script: func(s *schedule.Stage, e *history.Event) {
			if c, ok := r.strike(s, rng); ok && rng.IntN(20) == 0 {
				s.Inject(0, c)
			}
		},
	}))(t)
	for _, c := range run.Choices {
		if c.Verb >= simulator.FaultVerb {
			strikes++
		}
	}
	p := r.Start()
	return r.Judge(&p, run.Events), strikes
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
