package explore_test

import (
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

func gameModel(t *testing.T, id string, budget faults.Budget) *explore.Model {
	t.Helper()
	allowed, err := budget.Parse()
	if err != nil {
		t.Fatal(err)
	}
	entry := lockOf(t, id)
	return &explore.Model{Entry: entry, Faults: allowed, Scope: explore.Scope{
		Clients: 2, Attempts: 2, Nodes: min(entry.Servers(), 3), TTL: 9 * time.Second,
	}}
}

func newGame(t *testing.T, b *explore.Model) *explore.Game {
	t.Helper()
	g, err := explore.NewGame(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// TestWay: a way from the start is as short as the witness of a search, and each of its choices is
// among the moves of the position before it. From any position on it, the rest is left.
func TestWay(t *testing.T) {
	for _, c := range []struct {
		lock   string
		budget faults.Budget
	}{
		{"setnx", "crash=1"}, {"getset", "pause=1"}, {"zk-naive", "expire-session=1"},
	} {
		t.Run(c.lock, func(t *testing.T) {
			b := gameModel(t, c.lock, c.budget)
			found, err := explore.Search(t.Context(), b)
			if err != nil || len(found.Found) == 0 {
				t.Fatal(found, err)
			}
			g := newGame(t, b)
			for _, w := range found.Found {
				way, err := g.Way(t.Context(), nil, w.Verdict, 0)
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
					rest, err := g.Way(t.Context(), way[:n], w.Verdict, 0)
					if err != nil || len(rest) != len(way) || !slices.Equal(rest[:n], way[:n]) {
						t.Errorf("%s: after %d steps of %d: %d, %v", w.Verdict, n, len(way), len(rest), err)
					}
				}
			}
		})
	}
}

// TestNoWay: where a harm is out of reach there is no way to it, and a limit is no proof of that.
func TestNoWay(t *testing.T) {
	g := newGame(t, gameModel(t, "token", "crash=1"))
	for most, refused := range map[int]bool{0: false, 10: true} {
		if way, err := g.Way(t.Context(), nil, verdict.Overlap, most); way != nil || (err != nil) != refused {
			t.Errorf("%d states at most: %v, %v", most, way, err)
		}
	}
}

// TestMovesAtAnyTiming: at any timing a game has more moves, such as time that passes while a message is under
// way, and its moves are still choices of the simulator.
func TestMovesAtAnyTiming(t *testing.T) {
	b := gameModel(t, "token", "pause=1")
	b.Timing = &explore.Durations{
		Timing: simulator.Timing{Step: time.Second, Latency: time.Second, Lateness: time.Second},
		Work:   4 * time.Second, Timeout: 4 * time.Second, Idle: simulator.Never,
	}
	g := newGame(t, b)
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
