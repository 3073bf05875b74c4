package explore

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/hypothesis"
)

// searched is a search that has come to its end.
func searched(t *testing.T, b *Model) *search {
	t.Helper()
	sim, err := b.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	sim.Assume(hypothesis.Set{Creations: true, Rests: true})
	for {
		opt := b.Options()
		opt.Symmetric = 0 // an ensemble knows clients by their sessions
		s := newSearch(sim, opt)
		err := s.run(t.Context())
		if errors.Is(err, errNewTrait) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// effectsOf is a model of two clients with one attempt each.
func effectsOf(t *testing.T, id string, budget faults.Budget, limits Limits) *Model {
	t.Helper()
	entry, _ := algorithms.ByName(id)
	allowed, err := budget.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return &Model{Entry: entry, Faults: allowed, Scope: Scope{
		Clients: 2, Attempts: 1, Nodes: min(entry.Servers(), 3), TTL: 9 * time.Second, Limits: limits,
	}}
}

// anyTiming are a few whole steps, of which a client idles for as long as idle.
func anyTiming(idle time.Duration) *Durations {
	const step = 900 * time.Millisecond
	return &Durations{
		Timing: simulator.Timing{Step: step, Latency: step, Lateness: step},
		Work:   4 * step, Timeout: 3 * time.Second, Idle: idle,
	}
}

// TestEffectsAgain: an effect that is remembered is that of the same move computed again, with whatever ensemble and
// rest if it was remembered without regard to them.
func TestEffectsAgain(t *testing.T) {
	for _, c := range []struct {
		id     string
		budget faults.Budget
		uses   client.Uses
		timing *Durations
	}{
		{"token", "crash=1,pause=1", 0, nil},
		{"redlock", "restart=1", 0, nil},
		{"db-skip-locked", "lose-reply=1", 0, nil},
		{"zk-recheck", "crash=1,expire-session=1", client.Wait, anyTiming(simulator.Never)},
		{"zk-mutex", "lose-reply=1,expire-session=1", client.Reenter, anyTiming(simulator.Never)},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			m := effectsOf(t, c.id, c.budget, Limits{MaxStates: 20_000, Plain: Plain{Effects: true, Workers: true}})
			m.Uses, m.Timing = c.uses, c.timing
			if s := searched(t, m); s.transitions.remembered < 100 {
				t.Errorf("%d effects were remembered", s.transitions.remembered)
			}
		})
	}
}

// TestUndeclared: a move that writes another part than it declares is an error.
func TestUndeclared(t *testing.T) {
	s := searched(t, effectsOf(t, "token", "restart=1", Limits{MaxStates: 5_000}))
	strays := 0
	for id := range uint32(s.visited.states.n) {
		copy(s.successors.cur, s.visited.states.words(id))
		if err := s.quotient.restore(s.successors.cur); err != nil {
			t.Fatal(err)
		}
		if err := s.successors.listMoves(); err != nil {
			t.Fatal(err)
		}
		for _, m := range slices.Clone(s.successors.moves) {
			if m.informed == 0 {
				continue
			}
			if err := s.transitions.reaches(s.successors.cur, &m); err != nil {
				t.Fatalf("a move as it is: %v", err)
			}
			m.informed = 0
			if err := s.transitions.reaches(s.successors.cur, &m); err != nil && strings.Contains(err.Error(), "error.effect.undeclared") {
				strays++
			}
		}
	}
	if strays < 10 {
		t.Errorf("%d moves that tell other clients something, and do not say so, were found out", strays)
	}
}
