package explore

import (
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/intern"
	"locklab/simulator/translate"
	"locklab/simulator/verdict"
)

// Clients that run the same code can change places. Of all states that differ only in a permutation of such clients the
// search keeps the canonical one: the clients sorted by what they have observed and then by what the judges know of
// them. Two clients that are equal in both may still differ in a server's data. Then several states are kept instead of
// one, which costs time and nothing else.
//
// This is sound if every move commutes with every permutation: what follows from a renamed state is, renamed, what
// follows from the state. Then, by induction, the search visits every reachable state under some permutation. A move
// consists of what code does, what servers do, and what the simulator does itself. The simulator knows clients by
// number only, and treats all numbers alike. Code and servers can look at names, so they are checked:
//
//   - Code, when a client is in a state that no client was in before: in that state every
//     other client does the same, with the names exchanged (checkClass). What one of two clients
//     has read of the other is exchanged with them; of three or more no reply may name one.
//   - Servers, when they execute a command on some data for the first time, or an ensemble
//     something on its contents: the renamed command on the renamed data has the renamed
//     effect (package hypothesis).
//
// Both checks cover all renamed forms of what was visited, and what a search without symmetry would visit consists of
// such forms. So it matters neither which form the search keeps nor how a name makes a difference (comparison, sorting,
// cutting, hashing, a constant, the order of members, of keys or of a table), because only effects are compared.
//
// If a check fails, the search begins anew without symmetry.

// quotient maps every state to the canonical one of those that count as one: dead components are dropped (drop.go), and
// clients that are alike are sorted.
type quotient struct {
	*tables
	// A canonical state has the classes of its symmetric clients: the numbers of the same states of client 1. classes
	// are those of each client's states, and members the other way round.
	classes, members [simulator.MaxClients]intern.Column
	renames          map[uint32]*renamed // by permutation, see code
	dropped          dropped
	drops            bool // see drop
	versions         bool // that of the resource is always part of the state; see drop
	again            *again
}

// renamed are the components with their clients permuted.
type renamed struct{ nodes, rest, judges intern.Column }

func newQuotient(t *tables, opt *Options) *quotient {
	q := &quotient{tables: t, renames: map[uint32]*renamed{}, drops: !opt.Plain.Parts && opt.Step > 0}
	// Without a lock clients often overlap: states would stand with and without it; or the resource looks at it.
	q.versions = t.sim.Traits().OldBases || slices.Contains(opt.Case.Holders, history.NoLock)
	return q
}

// as is the number of a state of client from, from 0, as one of client to.
func (s *quotient) as(id uint32, from, to int) (uint32, error) {
	part, err := s.sim.Symmetry().Client(s.clientTab[from].Keys[id], from+1, to+1)
	if err != nil {
		return 0, fmt.Errorf("explore: %w", err)
	}
	return s.clientTab[to].ID(part), nil
}

// class is the number of a state of client c as a state of client 1.
func (s *quotient) class(c int, id uint32) (uint32, error) {
	if class := s.classes[c].At(id); class != intern.Unseen {
		s.numbers.Has(class, len(s.clientTab[0].Keys))
		return class, nil
	}
	s.numbers.Lacking()
	class, err := s.as(id, c, 0)
	if err != nil {
		return 0, err
	}
	if s.classes[0].At(class) == intern.Unseen {
		if err := s.checkClass(class); err != nil {
			return 0, err
		}
	}
	s.join(class, 0, class)
	s.classes[c].Set(id, class)
	if c > 0 {
		s.members[c].Set(class, id)
	}
	return class, nil
}

// join notes that a state of client c is of a class.
func (s *quotient) join(class uint32, c int, id uint32) {
	s.classes[c].Set(id, class)
	s.members[c].Set(class, id)
}

// checkClass checks a class: that every symmetric client in this state does the same. Which of them are visited in it
// depends on the order of the classes: a state that is always the newest, for example, is that of the last client only.
func (s *quotient) checkClass(class uint32) error {
	for c := 1; c < s.symmetric; c++ {
		if _, err := s.sim.Symmetry().Client(s.clientTab[0].Keys[class], 1, c+1); err != nil {
			return fmt.Errorf("explore: %w", err)
		}
	}
	return nil
}

// ofClass is the number of a class as a state of client c.
func (s *quotient) ofClass(class uint32, c int) (id uint32, err error) {
	if id = s.members[c].At(class); id != intern.Unseen {
		s.numbers.Has(id, len(s.clientTab[c].Keys))
		return id, nil
	}
	s.numbers.Lacking()
	if id, err = s.as(class, 0, c); err == nil {
		s.join(class, c, id)
	}
	return id, err
}

// canonicalize makes a state canonical: symmetric clients' words become sorted classes, all others are renamed to fit.
func (s *quotient) canonicalize(state []uint32) error {
	_, err := s.canonicalizeNames(state)
	return err
}

// canonicalizeNames is canonicalize, and returns the new number of every client.
func (s *quotient) canonicalizeNames(state []uint32) (to history.Names, err error) {
	to = history.Same()
	s.met(state)
	if s.again != nil {
		s.again.refill(state)
	}
	s.drop(state)
	if s.again != nil && s.again.recounts != nil {
		if err := s.again.recounts.recount(state); err != nil {
			return to, fmt.Errorf("explore: %w", err)
		}
		s.met(state)
	}
	if s.symmetric < 2 {
		return to, nil
	}
	for c := range s.symmetric {
		if state[c], err = s.class(c, state[c]); err != nil {
			return to, err
		}
	}
	if s.again != nil {
		s.again.settle(state)
		if s.again.recounts == nil {
			s.again.renew(state, &to)
		}
	}
	after, err := s.sort(state)
	for c, place := range to {
		to[c] = after[place]
	}
	return to, err
}

// sort sorts the classes of a state, and returns the new number of every client.
func (s *quotient) sort(state []uint32) (history.Names, error) {
	var order [simulator.MaxClients]int
	var rank [simulator.MaxClients]uint64
	roles := &s.judgeTab.Values[state[s.judgeAt]].roles
	for c := range s.symmetric {
		order[c], rank[c] = c, uint64(state[c])<<32|uint64(roles[c])
	}
	moved := false
	for i := 1; i < s.symmetric; i++ {
		for j := i; j > 0 && rank[order[j]] < rank[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
			moved = true
		}
	}
	if !moved {
		return history.Same(), nil
	}
	to := history.Same()
	var classes [simulator.MaxClients]uint32
	copy(classes[:], state[:s.symmetric])
	for place, c := range order[:s.symmetric] {
		state[place] = classes[c]
		to[c+1] = uint8(place + 1)
	}
	return to, s.rename(state, &to)
}

// rename applies a permutation of clients to all words but those of the clients.
func (s *quotient) rename(state []uint32, to *history.Names) error {
	code := uint32(0)
	for _, name := range to[1 : s.symmetric+1] {
		code = code<<4 | uint32(name)
	}
	memory := s.renames[code]
	if memory == nil {
		s.numbers.Lacking()
		memory = &renamed{}
		s.renames[code] = memory
	}
	var wrong error
	for n := s.clients; n < s.restAt && wrong == nil; n++ {
		state[n] = s.nodeTab.Image(&memory.nodes, state[n], func(p simulator.NodePart) simulator.NodePart {
			names := *to // only what is computed anew takes memory
			p, wrong = s.sim.Symmetry().Node(p, translate.Rename(&names))
			return p
		})
	}
	if wrong == nil {
		state[s.restAt] = s.restTab.Image(&memory.rest, state[s.restAt], func(p simulator.RestPart) simulator.RestPart {
			names := *to
			p, wrong = s.sim.Symmetry().Rest(p, translate.Rename(&names))
			return p
		})
	}
	if wrong != nil {
		return fmt.Errorf("explore: %w", wrong)
	}
	state[s.judgeAt] = s.judgeTab.Image(&memory.judges, state[s.judgeAt], func(v verdict.Safety) verdict.Safety {
		names := *to
		v.Rename(&names)
		return v
	})
	return nil
}

// restore turns the classes of a canonical state into states of its clients again.
func (s *quotient) restore(state []uint32) (err error) {
	if s.symmetric < 2 {
		return nil
	}
	for c := range s.symmetric {
		if state[c], err = s.ofClass(state[c], c); err != nil {
			return err
		}
	}
	return nil
}
