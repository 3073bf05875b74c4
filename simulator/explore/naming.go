package explore

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// namesOf is the set of clients, bit c for client c from 1, that the shared part of a state names.
func (p *prover) namesOf(state []uint32) (names uint16) {
	shared := p.judgeTab.keys[state[p.judgeAt]]
	names = shared.Names()
	for n := range p.nodes {
		names |= p.namedBy(state[p.clients+n])
	}
	return names
}

// A naming is the shared part of a state under canonical names, and the clients, from 1, that these are.
type naming struct {
	shared
	slots []int
}

// sharedBy is the shared part of a state.
func sharedBy(t *tables, state []uint32) (s shared) {
	copy(s.nodes[:], state[t.clients:t.restAt])
	s.rest, s.judge = state[t.restAt], state[t.judgeAt]
	if len(state) > t.timeAt {
		s.present = state[t.timeAt]
	}
	return s
}

// canonical returns the shared part of a state under canonical names, with each order of the clients that gives the same.
func (p *prover) canonical(state []uint32) (least []naming, err error) {
	key := sharedBy(p.tables, state)
	if p.namings[key] == nil {
		p.namings[key], err = p.canonize(state)
	}
	return p.namings[key], err
}

// canonize is canonical, computed anew.
func (p *prover) canonize(state []uint32) ([]naming, error) {
	if err := p.sim.Stamps().CheckOld(serversOf(p.tables, state)...); err != nil {
		return nil, err
	}
	names := p.namesOf(state)
	if most := min(Outsiders, p.symmetric-worldSize); bits.OnesCount16(names) > most {
		return nil, &NotProvableError{i18n.New("prove.many", "most", fmt.Sprint(most))}
	}
	var list []int
	for c := 1; c <= p.symmetric; c++ {
		if names>>c&1 != 0 {
			list = append(list, c)
		}
	}
	var all []naming
	for _, order := range permutations(len(list)) {
		slots := make([]int, len(list))
		for i, k := range order {
			slots[i] = list[k]
		}
		to, used := history.Same(), uint16(0)
		for i, name := range slots {
			outsider := worldSize + 1 + i
			to[name] = uint8(outsider)
			used |= 1 << outsider
		}
		// The names that are not used get what is left.
		free := 1
		for c := 1; c <= p.symmetric; c++ {
			if names>>c&1 != 0 {
				continue
			}
			for used>>free&1 != 0 {
				free++
			}
			to[c] = uint8(free)
			used |= 1 << free
		}
		renamed := slices.Clone(state)
		if to != history.Same() {
			if err := p.search.quotient.rename(renamed, &to); err != nil {
				return nil, err
			}
		}
		f := naming{sharedBy(p.tables, renamed), slots}
		f.names = uint8(len(list))
		all = append(all, f)
	}
	compare := func(a, b naming) int {
		return cmp.Or(slices.Compare(a.nodes[:], b.nodes[:]), cmp.Compare(a.judge, b.judge), cmp.Compare(a.rest, b.rest))
	}
	least := slices.MinFunc(all, compare)
	return slices.DeleteFunc(all, func(f naming) bool { return compare(f, least) != 0 }), nil
}

// serversOf are the servers' parts of a state.
func serversOf(t *tables, state []uint32) (parts []simulator.NodePart) {
	for _, n := range state[t.clients:t.restAt] {
		parts = append(parts, t.nodeTab.keys[n])
	}
	return parts
}

// permutations are the orders of n things.
func permutations(n int) [][]int {
	all := [][]int{{}}
	for i := range n {
		var longer [][]int
		for _, o := range all {
			for at := 0; at <= len(o); at++ {
				longer = append(longer, slices.Insert(slices.Clone(o), at, i))
			}
		}
		all = longer
	}
	return all
}
