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

// TestMissedMessage: a search covers both orders of a SUBSCRIBE and a PUBLISH, and the
// arrival of the message before and after its deadline. The probe is refused if the
// message was missed.
func TestMissedMessage(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name    string
		confirm bool // c2 publishes when c1 has told it that it listens
		stuck   bool
	}{
		{"whoever comes first", false, true},
		{"subscribed, then published", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			sim, err := simulator.New(simulator.Config{
				Nodes: make([]simulator.NodeConfig, 1),
				Clients: []simulator.ClientConfig{
					{Program: func(c *simulator.Client) {
						s := c.Redis(1).Subscribe(ctx, "news")
						_, _ = s.Receive(ctx) // the confirmation
						c.Redis(1).Set(ctx, "listens", 1, 0)
						if _, err := s.ReceiveTimeout(until{ctx, c.Clock().Now().Add(5 * time.Second)}, time.Hour); err == nil {
							c.Redis(1).Set(ctx, "heard", 1, 0)
						}
						c.Record(history.Event{Kind: history.Enter}) // or nobody ever gets in: STARVED
						c.Record(history.Event{Kind: history.Done})
					}},
					{Program: func(c *simulator.Client) {
						for test.confirm && c.Redis(1).Exists(ctx, "listens").Val() == 0 {
							c.Clock().Sleep(time.Second)
						}
						c.Redis(1).Publish(ctx, "news", "x")
						c.Record(history.Event{Kind: history.Done})
					}},
					{Program: func(c *simulator.Client) {
						if c.Redis(1).Exists(ctx, "heard").Val() == 0 {
							c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
						}
					}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer sim.Close()
			r, err := explore.Exhaust(ctx, sim, explore.Options{Case: history.History{Clients: 3, Nodes: 1, Key: "lock"}, Probe: 3})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Complete || (len(r.Found) > 0) != test.stuck {
				t.Errorf("complete %v, found %+v, want stuck %v", r.Complete, r.Found, test.stuck)
			}
		})
	}
}

// until is a context whose deadline is the client's own.
type until struct {
	context.Context
	end time.Time
}

func (u until) Deadline() (time.Time, bool) { return u.end, true }
