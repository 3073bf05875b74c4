package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// TestShortestWay: faults count before steps. So a search may reach a state first by a
// late fault at the end of a long way, and only later by an early one. c1 sends many
// commands before it sets the guard without which the probe is stuck; it can crash at its
// first command, and at its last.
func TestShortestWay(t *testing.T) {
	ctx := context.Background()
	asleep := func(c *simulator.Client) { c.Clock().Sleep(30 * time.Second) }
	sim := world(t, "crash=1", 1, func(c *simulator.Client) {
		for range 5 {
			c.Redis(1).Ping(ctx)
		}
		asleep(c)
		c.Redis(1).Set(ctx, "guard", 1, 0)
		c.Record(history.Event{Kind: history.Enter}) // or nobody ever gets in: STARVED
		c.Record(history.Event{Kind: history.Done})
	}, func(c *simulator.Client) {
		asleep(c)
		c.Record(history.Event{Kind: history.Done})
	}, func(c *simulator.Client) {
		if err := c.Redis(1).Get(ctx, "guard").Err(); errors.Is(err, redis.Nil) {
			c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
		}
	})
	r, err := explore.Exhaust(ctx, sim, explore.Options{Case: head(sim), Probe: 3})
	if err != nil {
		t.Fatal(err)
	}
	// c1 and c2 start, c1's first command arrives, c1 dies; 30 s pass, c2 wakes; the
	// probe starts, asks and hears.
	if len(r.Found) != 1 || r.Found[0].Verdict != verdict.Deadlock || r.Found[0].Par != 1 || r.Found[0].Steps != 9 {
		t.Errorf("found %+v, want DEADLOCK by one fault in 9 steps", r.Found)
	}
}

// TestProbeEnds: a lock that answers errors for ever is a deadlock, and the probe says which. An error is none that the
// lock mends itself.
func TestProbeEnds(t *testing.T) {
	const script = `return redis.call("INCR", KEYS[2])` // an error
	for _, c := range []struct {
		name     string
		budget   faults.Budget
		deadlock bool
		acquire  func(f *asking) (bool, error)
	}{
		{"a script with an error", "", true, byScript(script)},
		{"an error before any request", "", true, func(*asking) (bool, error) { return false, errors.New("no") }},
		{"an error until it has been asked three times", "", false, func(f *asking) (bool, error) {
			if f.asked++; f.asked <= 3 {
				return byScript(script)(f)
			}
			return f.set()
		}},
		{"no answer, for longer than many leases", "hang=1@5m", false, (*asking).set},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := search.DefaultBounds()
			b.Timing, b.Attempts, b.Retries, b.Nodes, b.Budget = search.Lockstep, 1, 0, 1, c.budget
			stuck, complete := comesTo(t, fallingEntry(c.name, code{acquire: c.acquire}), b, verdict.Deadlock)
			if !complete || stuck != c.deadlock {
				t.Errorf("complete %t, a deadlock %t", complete, stuck)
			}
		})
	}
}
