package explore

import (
	"slices"

	"locklab/simulator/verdict"
)

// An asker has the probe ask for the lock where views say that all clients have come to their ends.
type asker struct {
	search *search
	been   *store // the states in which the probe has been
	found  verdict.Set
}

// deadlock has the probe ask for the lock from each shared part whose clients have all come to their ends, as a search
// does: in every order of what is left to happen, without a fault. Clients of which something goes on at rest are left
// out: if that ever changes a key, a DEADLOCK is not excluded.
func (p *prover) deadlock() error {
	a := &asker{search: p.search, been: newStore(p.stride())}
	for _, q := range p.queue { // all views, in the order in which they were met
		s, v := &q.of, &p.groups[q.of].views[q.at]
		named := slices.ContainsFunc(v.names[:s.names], func(is status) bool { return is != nobody })
		if (v.part != p.fresh || named) && !restAfter(p.tables, 0, v.part).Busy {
			continue
		}
		state := make([]uint32, p.stride())
		copy(state, p.absent[:p.clients])
		copy(state[p.clients:], s.nodes[:p.nodes])
		state[p.restAt], state[p.judgeAt] = p.calm, s.judge
		if len(state) > p.timeAt {
			state[p.timeAt] = s.present
		}
		if !a.search.successors.settled(state) {
			continue
		}
		if err := a.ask(state); err != nil {
			return err
		}
	}
	var deadlock verdict.Set
	deadlock.Add(verdict.Deadlock)
	p.found |= a.found & deadlock
	return nil
}

// ask visits all that can follow from a state in which the probe begins.
func (a *asker) ask(start []uint32) error {
	n, next := a.search.successors, a.been.n
	for a.been.add(start, 0, 0, 0); next < a.been.n; next++ {
		state := a.been.words(uint32(next))
		copy(n.cur, state)
		if err := n.listMoves(); err != nil {
			return err
		}
		for _, m := range slices.Clone(n.moves) {
			copy(n.cur, state)
			copy(n.next, n.cur)
			found, err := a.step(&m)
			if err != nil {
				return err
			}
			a.found |= m.found | found
			a.been.add(n.next, 0, 0, 0)
		}
	}
	return a.search.numbers.Exceeded
}

// step makes a move of cur in next.
func (a *asker) step(m *move) (found verdict.Set, err error) {
	n := a.search.successors
	if m.pass > 0 || m.together {
		return a.search.transitions.passTime(n.cur, n.next, n.choices[m.choice])
	}
	events, err := n.apply(m)
	if err != nil {
		return 0, err
	}
	return a.search.transitions.judgeEvents(n.next, events), nil
}
