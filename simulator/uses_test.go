package simulator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

// idler idles, twice, and then asks a server under a context whose deadline may come at any
// moment, and once more without it.
func idler(c *simulator.Client) {
	note(c, c.Clock().Idle(2*sec, 2))
	note(c, c.Clock().Idle(0, 0))
	ctx, stop := c.WithDeadline()
	defer stop()
	note(c, c.Redis(1).Get(context.WithoutCancel(ctx), "a").Err())
	note(c, c.Redis(1).Get(ctx, "b").Err())
	note(c, ctx.Err())
	note(c, c.Redis(1).Get(ctx, "c").Err())
	note(c, c.Redis(1).Get(context.WithoutCancel(ctx), "d").Err())
}

// TestWays: a thread that idles goes on in any way, at any time within its bound; and what
// it asks for a context with a deadline it may give up at any moment, but nothing else.
func TestWays(t *testing.T) {
	s := newStage(t, simulator.Config{
		Nodes: make([]simulator.NodeConfig, 1), Timing: &simulator.Timing{Latency: sec},
		Clients: []simulator.ClientConfig{{Program: idler}},
	})
	type C = simulator.Choice
	may := func(want ...simulator.Verb) {
		t.Helper()
		var got []simulator.Verb
		for _, c := range s.sim.Enabled(&s.world, nil) {
			got = append(got, c.Verb)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("may happen: %v, want %v", got, want)
		}
	}
	s.step(C{Verb: simulator.Start, Client: 1})
	may(simulator.Wake, simulator.Choose, simulator.Choose, simulator.Pass)
	s.step(C{Verb: simulator.Pass, D: 2 * sec})
	may(simulator.Wake, simulator.Choose, simulator.Choose)
	for _, way := range []int8{0, 3, -1} {
		w := s.world
		if _, err := s.sim.Step(&w, C{Verb: simulator.Choose, Client: 1, Node: way}); err == nil {
			t.Errorf("there is a way %d", way)
		}
	}
	s.step(C{Verb: simulator.Choose, Client: 1, Node: 2})
	may(simulator.Wake)
	s.step(C{Verb: simulator.Wake, Client: 1})
	may(simulator.Arrive, simulator.Pass) // for a context without end
	s.step(C{Verb: simulator.Arrive, Client: 1}, C{Verb: simulator.Answer, Client: 1})
	may(simulator.Arrive, simulator.GiveUp, simulator.Pass)
	s.step(C{Verb: simulator.Arrive, Client: 1})
	may(simulator.Answer, simulator.GiveUp, simulator.Pass)
	s.step(C{Verb: simulator.GiveUp, Client: 1})
	may(simulator.Arrive, simulator.Pass) // "c" was never sent
	s.step(C{Verb: simulator.Arrive, Client: 1}, C{Verb: simulator.Answer, Client: 1})
	s.wantNotes("2s:2 2s:0 2s:redis: nil 2s:read tcp: i/o timeout 2s:context deadline exceeded 2s:context deadline exceeded 2s:redis: nil")
}

// TestLibraryRetries: go-redis sends a command again, at once, whose answer does not come or
// whose connection breaks, as often as it is told to and no more.
func TestLibraryRetries(t *testing.T) {
	for retries := range 3 {
		s := newStage(t, simulator.Config{
			Nodes: make([]simulator.NodeConfig, 1), ClientRetries: retries,
			Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) { do(c, 1, "GET", "a") }}},
		})
		type C = simulator.Choice
		s.step(C{Verb: simulator.Start, Client: 1})
		for range retries + 1 {
			s.step(C{Verb: simulator.Pass, D: 3 * time.Second}, C{Verb: simulator.GiveUp, Client: 1})
		}
		if sent := s.count(history.Send); sent != retries+1 {
			t.Errorf("%d retries: %d requests", retries, sent)
		}
		s.wantNotes(fmt.Sprintf("%v:read tcp: i/o timeout", time.Duration(retries+1)*3*time.Second))
	}
}
