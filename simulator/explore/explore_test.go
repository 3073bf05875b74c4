package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
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
	budget, err := faults.Budget("crash=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simulator.New(simulator.Config{
		Faults: budget, Nodes: make([]simulator.NodeConfig, 1),
		Clients: []simulator.ClientConfig{
			{Program: func(c *simulator.Client) {
				for range 5 {
					c.Redis(1).Ping(ctx)
				}
				asleep(c)
				c.Redis(1).Set(ctx, "guard", 1, 0)
				c.Record(history.Event{Kind: history.Enter}) // or nobody ever gets in: STARVED
				c.Record(history.Event{Kind: history.Done})
			}},
			{Program: func(c *simulator.Client) {
				asleep(c)
				c.Record(history.Event{Kind: history.Done})
			}},
			{Program: func(c *simulator.Client) {
				if err := c.Redis(1).Get(ctx, "guard").Err(); errors.Is(err, redis.Nil) {
					c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
				}
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	r, err := explore.Exhaust(ctx, sim, explore.Options{Case: history.History{Clients: 3, Nodes: 1, Key: "guard"}, Probe: 3})
	if err != nil {
		t.Fatal(err)
	}
	// c1 and c2 start, c1's first command arrives, c1 dies; 30 s pass, c2 wakes; the
	// probe starts, asks and hears.
	if len(r.Found) != 1 || r.Found[0].Verdict != verdict.Deadlock || r.Found[0].Par != 1 || r.Found[0].Steps != 9 {
		t.Errorf("found %+v, want DEADLOCK by one fault in 9 steps", r.Found)
	}
}
