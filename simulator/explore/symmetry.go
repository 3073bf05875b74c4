package explore

import (
	"fmt"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// Clients that run the same code can change places. Of all states that differ only in
// a permutation of such clients the search keeps the canonical one: the clients sorted
// by what they have observed and then by what the judges know of them. Two clients that
// are equal in both may still differ in a server's data. Then several states are kept
// instead of one, which costs time and nothing else.
//
// This is sound if every move commutes with every permutation: what follows from a
// renamed state is, renamed, what follows from the state. Then, by induction, the search
// visits every reachable state under some permutation. A move consists of what code
// does, what servers do, and what the simulator does itself. The simulator knows clients
// by number only, and treats all numbers alike. Code and servers can look at names, so
// they are checked:
//
//   - Code, when a client is in a state that no client was in before: in that state every
//     other client does the same, with the names exchanged (checkClass). What one of two clients
//     has read of the other is exchanged with them; of three or more no reply may name one.
//   - Servers, when they execute a command on some data for the first time, or an ensemble
//     something on its contents: the renamed command on the renamed data has the renamed
//     effect (Symmetry.Check).
//
// Both checks cover all renamed forms of what was visited, and what a search without
// symmetry would visit consists of such forms. So it does not matter which form the search
// keeps. Nor does it matter how a name makes a difference (comparison, sorting, cutting,
// hashing, a constant, the order of members, of keys or of a table), because only the
// effects are compared.
//
// If a check fails, the search begins anew without symmetry.

// quotient maps every state to the canonical one of those that count as one: dead components are
// dropped (drop.go), and clients that are alike are sorted.
type quotient struct {
	*tables
	renames  map[renaming]uint32
	drops    bool // see drop
	versions bool // that of the resource is always part of the state; see drop
}

// newQuotient has sim check from now on that the servers take symmetric clients for one another.
func newQuotient(t *tables, opt *Options) *quotient {
	t.sim.Symmetry().Check(t.symmetric)
	return &quotient{tables: t, renames: map[renaming]uint32{}, drops: !opt.Plain.Parts && opt.Step > 0, versions: t.sim.OldBases()}
}

// renaming is a part and the permutation that is applied to it.
type renaming struct {
	kind renamingKind
	id   uint32
	to   uint32 // see code
}

type renamingKind uint8

const (
	ofNode renamingKind = iota
	ofRest
	ofJudges
)

// class is the number of a state of client c as a state of client 1.
func (s *quotient) class(c int, id uint32) (uint32, error) {
	e := s.clientTab[c].entries[id]
	if e.class != unseen {
		return e.class, nil
	}
	part, err := s.sim.Symmetry().Client(s.clientTab[c].keys[id], c+1, 1)
	if err != nil {
		return 0, fmt.Errorf("explore: %w", err)
	}
	class := s.clientPart(0, part)
	first := s.clientTab[0].entries[class]
	if first.class == unseen {
		if err := s.checkClass(class); err != nil {
			return 0, err
		}
	}
	e.class, first.class, first.as[0], first.as[c] = class, class, class, id
	return class, nil
}

// checkClass checks a class: that every symmetric client in this state does the same. Which of
// them are visited in it depends on the order of the classes: a state that is always the
// newest, for example, is that of the last client only.
func (s *quotient) checkClass(class uint32) error {
	for c := 1; c < s.symmetric; c++ {
		if _, err := s.sim.Symmetry().Client(s.clientTab[0].keys[class], 1, c+1); err != nil {
			return fmt.Errorf("explore: %w", err)
		}
	}
	return nil
}

// ofClass is the number of a class as a state of client c.
func (s *quotient) ofClass(class uint32, c int) (uint32, error) {
	first := s.clientTab[0].entries[class]
	if first.as[c] != unseen {
		return first.as[c], nil
	}
	part, err := s.sim.Symmetry().Client(s.clientTab[0].keys[class], 1, c+1)
	if err != nil {
		return 0, fmt.Errorf("explore: %w", err)
	}
	id := s.clientPart(c, part)
	first.as[c] = id
	s.clientTab[c].entries[id].class = class
	return id, nil
}

// canonicalize makes a state canonical: the words of symmetric clients become classes,
// sorted, and all other words are renamed to fit.
func (s *quotient) canonicalize(state []uint32) error {
	_, err := s.canonicalizeNames(state)
	return err
}

// canonicalizeNames is canonicalize, and returns the new number of every client.
func (s *quotient) canonicalizeNames(state []uint32) (to verdict.Names, err error) {
	for c := range to {
		to[c] = uint8(c)
	}
	s.drop(state)
	if s.symmetric < 2 {
		return to, nil
	}
	var order [simulator.MaxClients]int
	var rank [simulator.MaxClients]uint64
	roles := &s.judgeTab.entries[state[s.judgeAt]].roles
	for c := range s.symmetric {
		class, err := s.class(c, state[c])
		if err != nil {
			return to, err
		}
		state[c] = class
		order[c], rank[c] = c, uint64(class)<<32|uint64(roles[c])
	}
	moved := false
	for i := 1; i < s.symmetric; i++ {
		for j := i; j > 0 && rank[order[j]] < rank[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
			moved = true
		}
	}
	if !moved {
		return to, nil
	}
	var classes [simulator.MaxClients]uint32
	copy(classes[:], state[:s.symmetric])
	for place, c := range order[:s.symmetric] {
		state[place] = classes[c]
		to[c+1] = uint8(place + 1)
	}
	return to, s.rename(state, &to)
}

// rename applies a permutation of clients to all words but those of the clients.
func (s *quotient) rename(state []uint32, to *verdict.Names) error {
	code := uint32(0)
	for _, name := range to[1 : s.symmetric+1] {
		code = code<<4 | uint32(name)
	}
	for n := range s.nodes {
		word := &state[s.clients+n]
		key := renaming{ofNode, *word, code}
		id, ok := s.renames[key]
		if !ok {
			part, err := s.sim.Symmetry().Node(s.nodeTab.keys[*word], (*simulator.Names)(to))
			if err != nil {
				return fmt.Errorf("explore: %w", err)
			}
			id = s.nodePart(part)
			s.renames[key] = id
		}
		*word = id
	}
	word := &state[s.restAt]
	key := renaming{ofRest, *word, code}
	id, ok := s.renames[key]
	if !ok {
		part, err := s.sim.Symmetry().Rest(s.restTab.keys[*word], (*simulator.Names)(to))
		if err != nil {
			return fmt.Errorf("explore: %w", err)
		}
		id = s.restPart(part)
		s.renames[key] = id
	}
	*word = id
	word = &state[s.judgeAt]
	key = renaming{ofJudges, *word, code}
	if id, ok = s.renames[key]; !ok {
		v := s.judgeTab.keys[*word]
		v.Rename(to)
		id = s.judges(v)
		s.renames[key] = id
	}
	*word = id
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
