package explore

import (
	"cmp"
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// A naming is the shared part of a state under canonical names, and the clients, from 1, that these are.
type naming struct {
	of    *group
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

// put makes s the shared part of a state.
func (s *shared) put(t *tables, state []uint32) {
	copy(state[t.clients:t.restAt], s.nodes[:])
	state[t.restAt], state[t.judgeAt] = s.rest, s.judge
	if len(state) > t.timeAt {
		state[t.timeAt] = s.present
	}
}

// canonical returns the shared part of a state under canonical names, with each order of clients that gives it.
func (p *prover) canonical(state []uint32) (least []naming, err error) {
	key := sharedBy(p.tables, state)
	if p.namings[key] == nil {
		p.namings[key], err = p.canonize(state)
	}
	return p.namings[key], err
}

// canonize is canonical, computed anew.
func (p *prover) canonize(state []uint32) ([]naming, error) {
	var servers []simulator.NodePart
	for _, n := range state[p.clients:p.restAt] {
		servers = append(servers, p.nodeTab.Keys[n])
	}
	if err := p.sim.Stamps().CheckOld(servers...); err != nil {
		return nil, err
	}
	names := p.judgeTab.Keys[state[p.judgeAt]].Names()
	for _, server := range state[p.clients:p.restAt] {
		names |= p.namedBy(server)
	}
	if most := min(Outsiders, p.symmetric-p.size); names.Len() > most {
		return nil, &NotProvableError{i18n.New("prove.many", "most", fmt.Sprint(most))}
	}
	list := names.AppendTo(nil)
	type named struct {
		shared
		slots []int
	}
	var all []named
	for _, order := range permutations(len(list)) {
		slots, to, free := make([]int, len(list)), history.Same(), 1
		for i, k := range order {
			slots[i] = list[k]
			to[list[k]] = uint8(p.size + 1 + i)
		}
		for c := 1; c <= p.symmetric; c++ { // the names that are not used get what is left
			if names.Has(uint8(c)) {
				continue
			}
			if free == p.size+1 {
				free += len(list)
			}
			to[c] = uint8(free)
			free++
		}
		renamed := slices.Clone(state)
		if to != history.Same() {
			if err := p.search.quotient.rename(renamed, &to); err != nil {
				return nil, err
			}
		}
		f := named{sharedBy(p.tables, renamed), slots}
		f.names = uint8(len(list))
		all = append(all, f)
	}
	compare := func(a, b named) int {
		return cmp.Or(slices.Compare(a.nodes[:], b.nodes[:]),
			cmp.Compare(a.judge, b.judge), cmp.Compare(a.rest, b.rest))
	}
	least := slices.MinFunc(all, compare)
	var namings []naming
	for _, f := range all {
		if compare(f, least) == 0 {
			namings = append(namings, naming{p.groups.of(f.shared), f.slots})
		}
	}
	return namings, nil
}

// permutations are the orders of n things.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, o := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(o), at, n-1))
		}
	}
	return all
}
