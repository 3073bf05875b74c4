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
	"locklab/simulator/intern"
)

// TestClientAlone: what is remembered of a client's choice without regard to the ensemble and to the
// rest is what the choice does with any of those that the search has met.
func TestClientAlone(t *testing.T) {
	for _, test := range []struct {
		lock, budget string
		uses         client.Uses
	}{
		{"zk-recheck", "crash=1,expire-session=1", client.Wait},
		{"zk-mutex", "lose-reply=1,expire-session=1", client.Reenter},
		{"zk-multi", "pause=1", 0},
	} {
		t.Run(test.lock, func(t *testing.T) {
			t.Parallel()
			entry, _ := algorithms.ByName(test.lock)
			allowed, err := faults.Budget(test.budget).Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: 9 * time.Second, Uses: test.uses, Limits: Limits{MaxStates: 20_000}},
				Timing: &Durations{Timing: simulator.Timing{Step: 900 * time.Millisecond, Latency: 900 * time.Millisecond, Lateness: 900 * time.Millisecond}, Work: 3600 * time.Millisecond, Timeout: 3 * time.Second, Idle: simulator.Never}}
			s := searched(t, b)
			alone := 0
			for _, slot := range slices.Clone(s.transitions.effects.slots) {
				if slot.used == 0 || slot.key.node != intern.Unseen {
					continue
				}
				alone++
				for i := range 20 { // the first, the last, and some between
					s.tryAlone(t, slot, uint32(i*(len(s.nodeTab.Keys)-1)/19), uint32((19-i)*(len(s.restTab.Keys)-1)/19))
				}
			}
			if alone < 100 {
				t.Errorf("%d choices depend on their client only", alone)
			}
		})
	}
}

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

// tryAlone makes a choice with a server and a rest.
func (s *search) tryAlone(t *testing.T, slot memoSlot, node, rest uint32) {
	t.Helper()
	now := time.Duration(0)
	if s.sim.Traits().ReadsClock {
		now = s.times.Keys[slot.key.now]
	}
	w, c := s.sim.Parts().World(now), int(slot.key.who)
	w.SetClientPart(c+1, &s.clientTab[c].Keys[slot.key.client])
	s.sim.Parts().SetNode(&w, 1, &s.nodeTab.Keys[node])
	s.sim.Parts().SetRest(&w, &s.restTab.Keys[rest])
	events, err := s.sim.Step(&w, s.choices[slot.key.choice])
	if err != nil {
		t.Fatalf("%+v with server %d and rest %d: %v", slot, node, rest, err)
	}
	got := effect{client: s.client(c, &w), node: s.node(0, &w), rest: s.rest(&w), events: s.recordEvents(w.Now(), events)}
	if want := (effect{client: slot.eff.client, node: node, rest: rest, events: slot.eff.events}); got != want {
		t.Fatalf("%+v with server %d and rest %d: %+v, want %+v", slot, node, rest, got, want)
	}
}

// TestEffectsAgain: an effect that is remembered is that of the same move computed again.
func TestEffectsAgain(t *testing.T) {
	for id, budget := range map[string]faults.Budget{"token": "crash=1,pause=1", "redlock": "restart=1", "zk-protected": "expire-session=1", "db-skip-locked": "lose-reply=1"} {
		entry, _ := algorithms.ByName(id)
		allowed, err := budget.Parse()
		if err != nil {
			t.Fatal(err)
		}
		s := searched(t, &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 1, Nodes: min(entry.Servers(), 3), TTL: 9 * time.Second, Limits: Limits{MaxStates: 50_000, Plain: Plain{Effects: true, Workers: true}}}})
		if s.transitions.remembered < 100 {
			t.Errorf("%s: %d effects were remembered", id, s.transitions.remembered)
		}
	}
}

// TestUndeclared: a move that writes another part than it declares is an error.
func TestUndeclared(t *testing.T) {
	entry, _ := algorithms.ByName("token")
	allowed, err := faults.Budget("restart=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	s := searched(t, &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: 9 * time.Second, Limits: Limits{MaxStates: 5_000}}})
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
