package explore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// world makes a simulator of these programs on a number of servers.
func world(t testing.TB, budget string, nodes int, programs ...func(*simulator.Client)) *simulator.Simulator {
	t.Helper()
	allowed, err := faults.Budget(budget).Parse()
	if err != nil {
		t.Fatal(err)
	}
	setup := simulator.Config{Faults: allowed, Nodes: make([]simulator.NodeConfig, nodes)}
	for _, p := range programs {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: p})
	}
	sim, err := simulator.New(setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

func head(sim *simulator.Simulator) history.History {
	return history.History{Clients: len(sim.Config().Clients), Nodes: len(sim.Config().Nodes), Key: "lock",
		TTL: time.Second}
}

// hasty waits for no answer to so many INCRs.
func hasty(c *simulator.Client, n int) {
	for range n {
		c.Redis(1).Incr(context.Background(), "n")
	}
}

// TestNoRequestIsForgotten: requests that time out at a hung server all arrive there,
// however many they are. A client that finds them all enters while the other is inside.
func TestNoRequestIsForgotten(t *testing.T) {
	effort.Unwatched(t, "study's TestSearchOnTwoCores shows the goroutines of a search")
	ctx := context.Background()
	for _, n := range []int{12, 30} {
		for _, symmetric := range []int{0, 2} {
			t.Run(fmt.Sprintf("%d late, %d symmetric", n, symmetric), func(t *testing.T) {
				program := func(c *simulator.Client) {
					own := c.Token()
					if c.Redis(1).SetNX(ctx, "first", "", 0).Val() {
						c.Record(history.Event{Kind: history.Enter})
						c.Clock().Sleep(10 * time.Minute)
						c.Record(history.Event{Kind: history.Leave})
						return
					}
					for range n {
						if c.Redis(1).Incr(ctx, own).Err() == nil {
							return
						}
					}
					c.Clock().Sleep(2 * time.Minute)
					if got, _ := c.Redis(1).Get(ctx, own).Int(); got == n {
						c.Record(history.Event{Kind: history.Enter})
					}
				}
				sim := world(t, "hang=1@1m40s", 1, program, program)
				r, err := explore.Exhaust(ctx, sim, explore.Options{Case: head(sim), Symmetric: symmetric})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Complete || len(r.Found) == 0 || r.Found[0].Verdict != verdict.Overlap || r.Found[0].Par != 1 {
					t.Fatalf("complete %v, found %+v, want OVERLAP", r.Complete, r.Found)
				}
				if _, err := schedule.Replay(sim, r.Found[0].Choices); err != nil {
					t.Errorf("the witness cannot be played: %v", err)
				}
				d, err := explore.DoomOf(ctx, sim, explore.Options{Case: head(sim)}, r.Found[0].Choices,
					verdict.Overlap)
				if err != nil || d.Shares[0] != 0 || d.Shares[len(d.Shares)-1] != 1 {
					t.Errorf("the witness has no doom: %v", err)
				}
				t.Logf("%d states, %d transitions", r.States, r.Transitions)
			})
		}
	}
}

// TestEqualRequestsAreOneState: the order in which equal requests arrive is no choice.
func TestEqualRequestsAreOneState(t *testing.T) {
	for _, n := range []int{6, 12} {
		sim := world(t, "hang=1@1m", 1, func(c *simulator.Client) { hasty(c, n) })
		r, err := explore.Exhaust(t.Context(), sim, explore.Options{Case: head(sim)})
		if err != nil || !r.Complete || r.States > 40*n*n {
			t.Errorf("%d equal requests give %d states, complete %v: %v", n, r.States, r.Complete, err)
		}
	}
}

// TestLimitsOfASearch: a search that reaches one of its limits is incomplete, and says
// why.
func TestLimitsOfASearch(t *testing.T) {
	for _, test := range []struct {
		name             string
		ids, states, chs int
		want             string
	}{
		{"entries of a table", 5, 1000, 1000, "the search has numbers for 5 "},
		{"states", 1000, 20, 1000, "the search has numbers for 20 states"},
		{"kinds of choice", 1000, 1000, 3, "the search has numbers for 3 kinds of choice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sim := world(t, "hang=1@1m", 1, func(c *simulator.Client) { hasty(c, 5) })
			limits := explore.Limits{Plain: explore.Plain{IDs: test.ids, States: test.states, Choices: test.chs}}
			r, err := explore.Exhaust(t.Context(), sim, explore.Options{Case: head(sim), Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			if r.Complete || !strings.HasPrefix(text.SayMessage("en", r.Limit), test.want) {
				t.Errorf("complete %v, %q; want %q", r.Complete, r.Limit, test.want)
			}
		})
	}
}

// TestLongChain: a run may be long, and steps are counted beyond sixteen bits.
func TestLongChain(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine searches")
	const commands = 40_000
	sim := world(t, "", 1, func(c *simulator.Client) {
		c.Record(history.Event{Kind: history.Enter})
		for range commands {
			c.Redis(1).Ping(context.Background())
		}
		c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
	})
	r, err := explore.Exhaust(context.Background(), sim, explore.Options{Case: head(sim), Probe: 1})
	if err != nil {
		t.Fatal(err)
	}
	steps := 2*commands + 1
	i := slices.IndexFunc(r.Found, func(f explore.Witness) bool { return f.Verdict == verdict.Deadlock })
	if !r.Complete || r.Depth != steps || i < 0 || r.Found[i].Steps != steps || len(r.Found[i].Choices) != steps {
		t.Errorf("complete %v, depth %d, %d found, want a way of %d steps", r.Complete, r.Depth, len(r.Found), steps)
	}
}
