package explore_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

func gameModel(t *testing.T, id, budget string) *explore.Model {
	t.Helper()
	entry, ok := algorithms.ByName(id)
	if !ok {
		t.Fatal(id)
	}
	allowed, err := faults.Budget(budget).Parse()
	if err != nil {
		t.Fatal(err)
	}
	return &explore.Model{Entry: entry, Faults: allowed, Scope: explore.Scope{Clients: 2, Attempts: 2, Nodes: min(entry.Servers(), 3), TTL: 9 * time.Second}}
}

// A way from the start is as short as the witness of a search, and each of its choices is
// among the moves of the position before it. From any position on it, the rest is left.
func TestWay(t *testing.T) {
	for _, c := range []struct{ lock, budget string }{
		{"token", "pause=1"}, {"setnx", "crash=1"}, {"setnx", "lose-reply=1"}, {"getset", "pause=1"}, {"zk-naive", "expire-session=1"},
	} {
		t.Run(c.lock+" "+c.budget, func(t *testing.T) {
			b := gameModel(t, c.lock, c.budget)
			found, err := explore.Search(context.Background(), b)
			if err != nil || len(found.Found) == 0 {
				t.Fatal(found, err)
			}
			g, err := explore.NewGame(b)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			for _, w := range found.Found {
				way, err := g.Way(context.Background(), nil, w.Verdict, 0)
				if err != nil || len(way) != w.Steps {
					t.Fatalf("%s: %d steps, want %d: %v", w.Verdict, len(way), w.Steps, err)
				}
				for n := range way {
					moves, err := g.Moves(way[:n])
					if err != nil || !slices.Contains(moves, way[n]) {
						t.Fatalf("%s: step %d, %v, is not among the moves %v: %v", w.Verdict, n+1, way[n], moves, err)
					}
				}
				for _, n := range []int{1, len(way) / 2, len(way) - 1} {
					rest, err := g.Way(context.Background(), way[:n], w.Verdict, 0)
					if err != nil || len(rest) != len(way) || !slices.Equal(rest[:n], way[:n]) {
						t.Errorf("%s: after %d steps of %d: %d, %v", w.Verdict, n, len(way), len(rest), err)
					}
				}
			}
		})
	}
}

// The share of a position is the one that the doom of a run through it has there.
func TestShareIsDoom(t *testing.T) {
	b := gameModel(t, "token", "pause=1")
	g, err := explore.NewGame(b)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	way, err := g.Way(context.Background(), nil, verdict.Overlap, 0)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := b.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	doom, err := explore.DoomOf(context.Background(), sim, b.Options(), way, verdict.Overlap)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(way) { // the last choice is the harm
		if share, err := g.Share(context.Background(), way[:n], verdict.Overlap, 0); err != nil || math.Abs(share-doom.Shares[n]) > 1e-9 {
			t.Errorf("after %d steps: %v, want %v: %v", n, share, doom.Shares[n], err)
		}
	}
}

// Where a harm is out of reach there is no way to it, and a limit is no proof of that.
func TestNoWay(t *testing.T) {
	g, err := explore.NewGame(gameModel(t, "token", "crash=1"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if way, err := g.Way(context.Background(), nil, verdict.Overlap, 0); way != nil || err != nil {
		t.Errorf("%v, %v", way, err)
	}
	if way, err := g.Way(context.Background(), nil, verdict.Overlap, 10); way != nil || err == nil {
		t.Errorf("%v, %v", way, err)
	}
}

// At any timing a game has more moves, such as time that passes while a message is under
// way, and its moves are still choices of the simulator.
func TestMovesAtAnyTiming(t *testing.T) {
	b := gameModel(t, "token", "pause=1")
	b.Timing = &explore.Durations{Timing: simulator.Timing{Step: time.Second, Latency: time.Second, Lateness: time.Second}, Work: 4 * time.Second, Timeout: 4 * time.Second, Idle: simulator.Never}
	g, err := explore.NewGame(b)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var choices []simulator.Choice
	for n := range 60 {
		moves, err := g.Moves(choices)
		if err != nil {
			t.Fatal(err)
		}
		if len(moves) == 0 {
			break
		}
		choices = append(choices, moves[n*7%len(moves)])
		if _, err := g.Replay(choices); err != nil {
			t.Fatalf("step %d: %v", n+1, err)
		}
	}
	if len(choices) < 20 {
		t.Errorf("the game ended after %d steps", len(choices))
	}
}
