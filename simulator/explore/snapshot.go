package explore

import (
	"maps"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/internal/codec"
	"locklab/simulator/verdict"
)

// snapshot is the state of a search before a layer. Tables and states only grow, so
// their sizes suffice.
type snapshot struct {
	sim     simulator.TableSizes
	clients []int // lengths of the tables
	nodes, rest, judges, times,
	causes, events, choices int

	tally
	states int
	queue  []level
	found  map[finding]discovery
}

// snapshot is that of the search now. No layer may be under way.
func (s *search) snapshot() *snapshot {
	v := s.visited
	m := &snapshot{
		sim: s.sim.TableSizes(), nodes: len(s.nodeTab.keys), rest: len(s.restTab.keys), judges: len(s.judgeTab.keys),
		times: len(s.times.keys), causes: len(s.causes), events: len(s.events), choices: len(s.choices),
		tally: v.tally, states: v.states.n, queue: slices.Clone(v.queue), found: map[finding]discovery{},
	}
	for c := range s.clientTab {
		m.clients = append(m.clients, len(s.clientTab[c].keys))
	}
	m.triggered = slices.Clone(v.triggered)
	for f, d := range v.found {
		m.found[f] = *d
	}
	return m
}

// rewind takes v back to a snapshot from before the present layer. Nothing may be
// entered afterwards.
func (v *visited) rewind(m *snapshot) {
	for _, w := range slices.Backward(v.shortened) {
		v.states.shorten(w.id, w.parent, w.via, w.depth)
		for i := range m.queue {
			delete(m.queue[i].moved, w.id)
		}
	}
	v.tally, v.states.n, v.queue = m.tally, m.states, m.queue
	v.found = map[finding]*discovery{}
	for f, d := range m.found {
		v.found[f] = &d
	}
}

// save writes the search as of m, to which visited has been taken back.
func (s *search) save(w *codec.Writer, m *snapshot) {
	w.Put(s.choices[:m.choices], s.causes[:m.causes], s.events[:m.events], s.times.keys[:m.times])
	for c, n := range m.clients {
		w.Put(s.clientTab[c].keys[:n])
	}
	w.Put(s.nodeTab.keys[:m.nodes], s.restTab.keys[:m.rest], s.judgeTab.keys[:m.judges])
	s.visited.save(w)
}

// load reads what save wrote into a new search.
func (s *search) load(r *codec.Reader) error {
	var (
		choices []simulator.Choice
		causes  [][]string
		events  []eventList
		times   []time.Duration
		parts   []simulator.ClientPart
		nodes   []simulator.NodePart
		rest    []simulator.RestPart
		judges  []verdict.Safety
	)
	sound := true
	r.Get(&choices, &causes, &events, &times)
	for i, c := range choices {
		sound = sound && s.hasChoice(c) && int(s.choice(c)) == i
	}
	for i, c := range causes {
		sound = sound && int(s.numberCauses(c)) == i
	}
	for i, e := range events {
		sound = sound && s.hasEvents(e) && int(s.numberEvents(e)) == i
	}
	for i, d := range times {
		sound = sound && int(s.timeID(d)) == i
	}
	for c := range s.clientTab {
		r.Get(&parts)
		for i, p := range parts {
			sound = sound && s.sim.CheckClient(c+1, &p) == nil && int(s.clientPart(c, p)) == i
		}
	}
	r.Get(&nodes, &rest, &judges)
	for i, p := range nodes {
		sound = sound && s.sim.CheckNode(&p) == nil && int(s.nodePart(p)) == i
	}
	for i, p := range rest {
		sound = sound && s.sim.CheckRest(&p) == nil && int(s.restPart(p)) == i
	}
	for i, v := range judges {
		sound = sound && int(s.judges(v)) == i
	}
	if r.Err() == nil && (!sound || len(s.choices) != len(choices) || s.numbers.full != nil) {
		return errUnsound
	}
	if err := s.visited.load(r); err != nil {
		return err
	}
	return r.Err()
}

// savedDiscovery is an entry of visited.found.
type savedDiscovery struct {
	finding
	discovery
}

func (v *visited) save(w *codec.Writer) {
	v.states.save(w)
	w.Put(v.tally, len(v.queue))
	for i := range v.queue {
		q := &v.queue[i]
		var moved []uint32
		for _, id := range q.below {
			if q.moved[id] {
				moved = append(moved, id)
			}
		}
		w.Put(q.below, q.own, moved)
	}
	var found []savedDiscovery
	for _, f := range slices.SortedFunc(maps.Keys(v.found), finding.compare) {
		found = append(found, savedDiscovery{f, *v.found[f]})
	}
	w.Put(found)
}

func (v *visited) load(r *codec.Reader) error {
	if err := v.states.load(r); err != nil {
		return err
	}
	var levels int
	r.Get(&v.tally, &levels)
	for range levels {
		q, moved := level{}, []uint32(nil)
		r.Get(&q.below, &q.own, &moved)
		for _, id := range moved {
			if q.moved == nil {
				q.moved = map[uint32]bool{}
			}
			q.moved[id] = true
		}
		if r.Err() != nil {
			return r.Err()
		}
		v.queue = append(v.queue, q)
	}
	var found []savedDiscovery
	r.Get(&found)
	for _, f := range found {
		v.found[f.finding] = &f.discovery
	}
	return r.Err()
}

func (s *store) save(w *codec.Writer) {
	w.Put(s.n)
	for left, i := s.n, 0; left > 0; i++ {
		b, n := &s.blocks[i], min(left, blockSize)
		w.Put(b.words[:n*s.width], b.parent[:n], b.via[:n], b.depth[:n])
		left -= n
	}
}

func (s *store) load(r *codec.Reader) error {
	n := 0
	r.Get(&n)
	if n < 1 || n > maxStates+1<<20 {
		return errUnsound
	}
	for ; s.n < n && r.Err() == nil; s.n = min(n, s.n+blockSize) {
		b, here := newBlock(s.width), min(n-s.n, blockSize)
		words, parent, via, depth := b.words, b.parent, b.via, b.depth
		r.Get(&words, &parent, &via, &depth) // into the block itself
		if r.Err() == nil && (len(words) != here*s.width || len(parent) != here || len(via) != here || len(depth) != here) {
			return errUnsound
		}
		s.blocks = append(s.blocks, b)
	}
	if r.Err() != nil {
		return r.Err()
	}
	size := len(s.index)
	for s.n*5 > size*4 {
		size *= 2
	}
	s.reindex(size)
	return nil
}
