package explore

import (
	"slices"

	"locklab/simulator/verdict"
)

// deadlock has the probe ask for the lock from each shared part whose clients have all come to their ends, as a search
// does: in every order of what is left to happen, without a fault. Clients of which something goes on at rest are left
// out: if that ever changes a key, a DEADLOCK is not excluded.
func (p *prover) deadlock() error {
	asked := newStore(p.stride()) // the states in which the probe has been
	for _, q := range p.queue {   // all views, in the order in which they were met
		s, v := &q.of.shared, &q.of.views[q.at]
		named := slices.ContainsFunc(v.names[:s.names], func(is status) bool { return is != nobody })
		if (v.part != p.fresh || named) && !restAfter(p.tables, 0, v.part).Busy {
			continue
		}
		state := make([]uint32, p.stride())
		copy(state, p.absent[:p.clients])
		s.put(p.tables, state)
		state[p.restAt] = p.idle.own[requests]
		if !p.search.successors.settled(state) {
			continue
		}
		if err := p.ask(asked, state); err != nil {
			return err
		}
	}
	return nil
}

// ask visits all that can follow from a state in which the probe begins, and was not asked before.
func (p *prover) ask(asked *store, start []uint32) error {
	n, next := p.search.successors, asked.n
	for asked.add(start, 0, 0, 0); next < asked.n; next++ {
		state := asked.words(uint32(next))
		copy(n.cur, state)
		if err := n.listMoves(); err != nil {
			return err
		}
		for _, m := range slices.Clone(n.moves) {
			copy(n.cur, state)
			copy(n.next, n.cur)
			_, found, err := p.advance(&m)
			if err != nil {
				return err
			}
			p.found |= (m.found | found) & verdict.SetOf(verdict.Deadlock)
			asked.add(n.next, 0, 0, 0)
		}
	}
	return p.numbers.Exceeded
}
