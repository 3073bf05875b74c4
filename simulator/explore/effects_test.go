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

// movesOf calls each for every move that reaches a part of every state of a search, with the state in cur.
func movesOf(t *testing.T, s *search, each func(m move)) {
	t.Helper()
	for id := range uint32(s.visited.states.n) {
		copy(s.successors.cur, s.visited.states.words(id))
		if err := s.quotient.restore(s.successors.cur); err != nil {
			t.Fatal(err)
		}
		if err := s.successors.listMoves(); err != nil {
			t.Fatal(err)
		}
		for _, m := range slices.Clone(s.successors.moves) {
			if m.pass == 0 && !m.together {
				each(m)
			}
		}
	}
}

// reaches makes a move in the whole world, and returns an error if it reaches a part that it has not declared.
func reaches(s *transitions, state []uint32, m *move) error {
	w := s.world(state)
	if _, err := s.sim.Step(&w, s.choices[m.choice]); err != nil {
		return err
	}
	kept := m.rest || s.rest(&w) == state[s.restAt]
	for c := range s.clients {
		kept = kept && (int(m.client) == c || m.informed>>c&1 != 0 || s.client(c, &w) == state[c])
	}
	for n := range s.nodes {
		kept = kept && (int(m.node) == n || s.node(n, &w) == state[s.clients+n])
	}
	if !kept {
		return undeclared(s.choices[m.choice])
	}
	return nil
}

// TestEffectsAgain: an effect that is remembered is that of the same move computed again, with whatever ensemble and
// rest if it was remembered without regard to them; and the move reaches no other part of the whole world.
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
			m := effectsOf(t, c.id, c.budget, Limits{MaxStates: 20_000, Plain: Plain{Workers: true}})
			m.Uses, m.Timing = c.uses, c.timing
			s := searched(t, m)
			known, again := s.transitions, 0
			movesOf(t, s, func(m move) {
				if again++; again%8 != 0 {
					return
				}
				cur := s.successors.cur
				eff, err := known.effect(cur, &m)
				if err != nil {
					t.Fatal(err)
				}
				key := known.effectKey(cur, &m)
				did, _, err := known.compute(cur, &m, key, key, false)
				if !m.rest { // what does not belong to the move is not its effect
					did.rest = eff.rest
				}
				if err == nil {
					err = reaches(known, cur, &m)
				}
				if err != nil || did != eff {
					t.Fatalf("%v: %+v, and again %+v, %v", s.choices[m.choice], eff, did, err)
				}
			})
			if again < 500 {
				t.Errorf("%d moves", again)
			}
		})
	}
}

// TestUndeclared: a move that writes another part than it declares is an error.
func TestUndeclared(t *testing.T) {
	s := searched(t, effectsOf(t, "token", "restart=1", Limits{MaxStates: 5_000}))
	strays := 0
	movesOf(t, s, func(m move) {
		if m.informed == 0 {
			return
		}
		if err := reaches(s.transitions, s.successors.cur, &m); err != nil {
			t.Fatalf("a move as it is: %v", err)
		}
		m.informed = 0
		err := reaches(s.transitions, s.successors.cur, &m)
		if err != nil && strings.Contains(err.Error(), "error.effect.undeclared") {
			strays++
		}
	})
	if strays < 10 {
		t.Errorf("%d moves that tell other clients something, and do not say so, were found out", strays)
	}
}
