package explore

import (
	"sync"

	"locklab/simulator"
	"locklab/simulator/history"
)

// Where servers keep sessions, a client that rests begins anew under its own name: its session goes on, and with it what its earlier
// attempts have left. What tells attempts apart are the numbers of its tokens and leases. They count without end, and so do the numbers that
// an ensemble gives to transactions and to the children of a znode. But all of them are only compared (simulator.Assumptions, Ordered). So
// in each state those that anything mentions (servers, what clients have observed, judges, requests under way) are the smallest ones in
// their order, and each counter stands at the greatest one that is mentioned and that it has counted. A counter that stands back gives a
// number again that nothing mentions.

// recounts has the numbers of states be the smallest ones.
type recounts struct {
	*again
	mentions [simulator.MaxClients + simulator.MaxNodes + 2][]*mention // by word and component; nil: not known yet
	images   map[recounting]uint32
	adding   *sync.RWMutex // of mentions and images, which copies share; see lookahead.go
}

// A mention has the numbers of a component.
type mention struct {
	numbers, counters history.Numbers
	anew              bool // it is a client that begins anew
}

// recounting is a component in whose state some numbers are mentioned.
type recounting struct {
	word, id uint32
	numbers  history.Numbers
}

// recount has clients of a state begin anew, and its numbers be the smallest ones.
func (r *recounts) recount(state []uint32) error {
	if r.numbers.readOnly {
		r.adding.RLock()
		defer r.adding.RUnlock()
	}
	for c := range r.symmetric {
		if m, err := r.mentionedIn(c, state[c]); err != nil {
			return err
		} else if m.anew {
			r.attempt(state, c, c)
		}
	}
	all := history.NoNumbers()
	for word := range r.judgeAt + 1 {
		m, err := r.mentionedIn(word, state[word])
		if err != nil {
			return err
		}
		all.Add(&m.numbers)
	}
	for word := range r.judgeAt + 1 {
		if m := r.mentions[word][state[word]]; !m.anew && all.Keep(&m.numbers) && all.Keep(&m.counters) {
			continue
		}
		key := recounting{uint32(word), state[word], all}
		to, known := r.images[key]
		if !known {
			r.numbers.lacking()
			var err error
			if to, err = r.with(word, state[word], all.Ranks); err != nil {
				return err
			}
			r.adding.Lock()
			r.images[key] = to
			r.adding.Unlock()
		}
		state[word] = to
	}
	return nil
}

// mentionedIn returns the numbers of a component, and what it does next if it is a client.
func (r *recounts) mentionedIn(word int, id uint32) (*mention, error) {
	list := &r.mentions[word]
	if int(id) < len(*list) && (*list)[id] != nil {
		return (*list)[id], nil
	}
	r.numbers.lacking()
	m, far := &mention{numbers: history.NoNumbers(), counters: history.NoNumbers()}, false
	if _, err := r.with(word, id, m.numbers.Note(&m.counters, &far)); err != nil {
		return nil, err
	}
	if far {
		r.numbers.exceed("limit.again.numbers")
	}
	m.anew = word < r.symmetric && r.after(word, id) == anew
	r.adding.Lock()
	defer r.adding.Unlock()
	for len(*list) <= int(id) {
		*list = append(*list, nil)
	}
	(*list)[id] = m
	return m, nil
}

// with is a component with other numbers.
func (r *recounts) with(word int, id uint32, f history.Recount) (to uint32, err error) {
	symmetry := r.sim.Symmetry()
	switch {
	case word < r.clients:
		part, err := symmetry.Recounted(r.clientTab[word].keys[id], word+1, f)
		if err != nil {
			return id, err
		}
		return r.clientTab[word].id(part), nil
	case word < r.restAt:
		return r.nodeTab.id(symmetry.RecountedNode(r.nodeTab.keys[id], f)), nil
	case word == r.restAt:
		return r.restTab.id(symmetry.RecountedRest(r.restTab.keys[id], f)), nil
	}
	return r.judgeTab.id(r.judgeTab.keys[id].Recounted(f)), nil
}
