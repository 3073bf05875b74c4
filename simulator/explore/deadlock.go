package explore

import (
	"encoding/binary"
	"slices"

	"locklab/simulator/verdict"
)

// deadlock has the probe ask for the lock from each shared part whose clients have all come to their ends, as a search does:
// in every order of what is left to happen, without a fault. Clients of which something goes on at rest are left out: if that
// ever changes a key, a DEADLOCK is not excluded.
func (p *prover) deadlock() error {
	for s, g := range p.groups {
		for _, v := range g.views {
			named := slices.ContainsFunc(v.names[:s.names], func(is status) bool { return is != nobody })
			if (v.part != p.fresh || named) && !p.restOf(0, v.part).Busy {
				continue
			}
			state := make([]uint32, p.stride())
			copy(state, p.absent[:p.clients])
			copy(state[p.clients:], s.nodes[:p.nodes])
			state[p.restAt], state[p.judgeAt] = p.calm, s.judge
			if !p.search.successors.settled(state) {
				continue
			}
			if err := p.ask(state); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask visits all that can follow from a state in which the probe begins.
func (p *prover) ask(start []uint32) error {
	n := p.search.successors
	for queue := [][]uint32{start}; len(queue) > 0; queue = queue[1:] {
		if p.asked(queue[0]) {
			continue
		}
		copy(n.cur, queue[0])
		if err := n.listMoves(); err != nil {
			return err
		}
		for _, m := range slices.Clone(n.moves) {
			copy(n.cur, queue[0])
			copy(n.next, n.cur)
			found := m.found
			if m.pass > 0 || m.together {
				words, err := p.search.transitions.passTime(n.cur, n.next, n.choices[m.choice])
				if err != nil {
					return err
				}
				found |= words
			} else {
				events, err := n.apply(&m)
				if err != nil {
					return err
				}
				found |= p.search.transitions.judgeEvents(n.next, events)
			}
			if slices.Contains(found.list(), verdict.Deadlock) {
				p.found.add(verdict.Deadlock)
			}
			queue = append(queue, slices.Clone(n.next))
		}
	}
	if p.numbers.full != nil {
		return p.numbers.full
	}
	return nil
}

// asked reports whether the probe has been in a state, and notes it.
func (p *prover) asked(state []uint32) (before bool) {
	key := make([]byte, 0, 4*len(state))
	for _, word := range state {
		key = binary.LittleEndian.AppendUint32(key, word)
	}
	before = p.probed[string(key)]
	p.probed[string(key)] = true
	return before
}
