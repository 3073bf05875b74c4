package explore

import (
	"maps"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	"locklab/simulator/verdict"
)

// snapshot is the state of a search before a layer or within one. Tables and states only
// grow, so their sizes suffice.
type snapshot struct {
	sim     simulator.TableSizes
	clients []int // lengths of the tables
	nodes, rest, judges, times,
	causes, events, choices int

	tally
	states    int
	shortened int // of visited.shortened
	found     map[finding]discovery
}

// snapshot is that of the search now. What follows from the states up to v.place must be
// entered, and nothing else.
func (s *search) snapshot() *snapshot {
	v := s.visited
	m := &snapshot{
		sim: s.sim.Tables().Sizes(), nodes: len(s.nodeTab.keys), rest: len(s.restTab.keys), judges: len(s.judgeTab.keys),
		times: len(s.times.keys), causes: len(s.causes.keys), events: len(s.events.keys), choices: len(s.choices),
		tally: v.tally, states: v.states.n, shortened: len(v.shortened), found: map[finding]discovery{},
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

// rewind undoes what happened since a snapshot to the states that there were then.
// Nothing may be entered afterwards.
func (v *visited) rewind(m *snapshot) {
	for _, w := range slices.Backward(v.shortened[m.shortened:]) {
		v.states.shorten(w.id, w.parent, w.via, w.depth)
	}
	v.shortened = v.shortened[:m.shortened]
}

// saved is called when what was shortened before a snapshot is saved.
func (v *visited) saved(m *snapshot) {
	v.shortened = slices.Delete(v.shortened, 0, m.shortened)
	m.shortened = 0
}

// save writes what the search had at to, and not yet at from.
func (s *search) save(w *codec.Writer, from, to *snapshot) {
	s.sim.Tables().Save(w, from.sim, to.sim)
	w.Put(s.choices[from.choices:to.choices], s.causes.entries[from.causes:to.causes], s.events.entries[from.events:to.events], s.times.keys[from.times:to.times])
	for c, n := range to.clients {
		w.Put(s.clientTab[c].keys[from.clients[c]:n])
	}
	s.sim.Tables().SaveNodes(w, s.nodeTab.keys[from.nodes:to.nodes])
	w.Put(s.restTab.keys[from.rest:to.rest], s.judgeTab.keys[from.judges:to.judges])
	s.visited.save(w, from, to)
}

// load reads what save wrote into a search that has what it had at from.
func (s *search) load(r *codec.Reader, from *snapshot) error {
	var (
		choices []simulator.Choice
		causes  [][]string
		events  [][]history.Event
		times   []time.Duration
		parts   []simulator.ClientPart
		rest    []simulator.RestPart
		judges  []verdict.Safety
	)
	sound := true
	r.Get(&choices, &causes, &events, &times)
	for i, c := range choices {
		sound = sound && hasChoice(s.tables, c) && int(s.choice(c)) == from.choices+i
	}
	for i, c := range causes {
		sound = sound && int(numberList(&s.causes, c)) == from.causes+i
	}
	for i, e := range events {
		sound = sound && hasEvents(s.tables, e) && int(numberList(&s.events, e)) == from.events+i
	}
	for i, d := range times {
		sound = sound && int(s.times.id(d)) == from.times+i
	}
	for c := range s.clientTab {
		r.Get(&parts)
		for i, p := range parts {
			sound = sound && s.sim.Tables().CheckClient(c+1, &p) == nil && int(s.clientTab[c].id(p)) == from.clients[c]+i
		}
	}
	for i, p := range s.sim.Tables().LoadNodes(r) {
		sound = sound && s.sim.Tables().CheckNode(&p) == nil && int(s.nodeTab.id(p)) == from.nodes+i
	}
	r.Get(&rest, &judges)
	for i, p := range rest {
		sound = sound && s.sim.Tables().CheckRest(&p) == nil && int(s.restTab.id(p)) == from.rest+i
	}
	for i, v := range judges {
		sound = sound && int(s.judgeTab.id(v)) == from.judges+i
	}
	if r.Err() == nil && (!sound || len(s.choices) != from.choices+len(choices) || s.numbers.full != nil) {
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

func (v *visited) save(w *codec.Writer, from, to *snapshot) {
	v.states.save(w, from.states, to.states)
	var shortened []way
	for _, old := range v.shortened[:to.shortened] {
		id := old.id
		shortened = append(shortened, way{id, v.states.parent(id), v.states.depth(id), v.states.via(id), old.states})
	}
	var found []savedDiscovery
	for _, f := range slices.SortedFunc(maps.Keys(to.found), finding.compare) {
		found = append(found, savedDiscovery{f, to.found[f]})
	}
	w.Put(shortened, to.tally, found)
}

// load reads what save wrote. It adds to shortened, and leaves the queue and the index of
// the states to be made (see requeue).
func (v *visited) load(r *codec.Reader) error {
	if err := v.states.load(r); err != nil {
		return err
	}
	var shortened []way
	var found []savedDiscovery
	r.Get(&shortened, &v.tally, &found)
	for _, w := range shortened {
		if int(w.id) >= v.states.n {
			return errUnsound
		}
		v.states.shorten(w.id, w.parent, w.via, w.depth)
	}
	v.shortened = append(v.shortened, shortened...)
	for _, f := range found {
		v.found[f.finding] = &f.discovery
	}
	return r.Err()
}

// save writes the states from a number on, to another.
func (s *store) save(w *codec.Writer, from, to int) {
	w.Put(from, to)
	for from < to {
		b, i, n := s.piece(from, to)
		w.Put(b.words[i*s.width:n*s.width], b.parent[i:n], b.via[i:n], b.depth[i:n])
		from += n - i
	}
}

// piece locates the states of a block from a number on, to another at most.
func (s *store) piece(from, to int) (b *block, i, n int) {
	i = from & (blockSize - 1)
	return &s.blocks[from>>blockBits], i, min(i+to-from, blockSize)
}

func (s *store) load(r *codec.Reader) error {
	var from, to int
	r.Get(&from, &to)
	if from != s.n || to < max(s.n, 1) || to > maxStates+1<<20 {
		return errUnsound
	}
	for s.n < to && r.Err() == nil {
		if s.n&(blockSize-1) == 0 {
			s.blocks = append(s.blocks, newBlock(s.width))
		}
		b, i, n := s.piece(s.n, to)
		words, parent, via, depth := b.words[i*s.width:i*s.width:n*s.width], b.parent[i:i:n], b.via[i:i:n], b.depth[i:i:n]
		r.Get(&words, &parent, &via, &depth) // into the block itself
		if r.Err() == nil && (len(words) != (n-i)*s.width || len(parent) != n-i || len(via) != n-i || len(depth) != n-i) {
			return errUnsound
		}
		s.n += n - i
	}
	return r.Err()
}

// indexAll makes the index of all states.
func (s *store) indexAll() {
	for s.index.full(s.n) {
		s.index = make(index, 2*len(s.index))
	}
	clear(s.index)
	for id := range s.n {
		s.index.put(slot{uint32(id) + 1, tagOf(s.words(uint32(id)))})
	}
}

// requeue makes the queue of a search that was loaded, whose states are sound, and checks the counts of
// those that were visited. The states stand in the order in which they were reached, so that is their
// order in the queue; one that was shortened stands where it was then. present is what was visited of
// the layer that is visited.
func (s *loaded) requeue() (present []uint32, err error) {
	v, moved := s.search.visited, map[uint32]bool{}
	visited, deepest := v.place, 0
	enqueue := func(id uint32) {
		if depth := v.states.depth(id); s.isDone(id) {
			visited, deepest = visited+1, max(deepest, int(depth))
		} else {
			v.enqueue(id, s.faultsOf(id), depth)
		}
	}
	before := uint32(0)
	for _, w := range v.shortened {
		if w.id == 0 || moved[w.id] || w.states <= w.id || w.states < before || int(w.states) > v.states.n || s.faultIn(v.states.via(w.id)) != 0 {
			return nil, errUnsound
		}
		moved[w.id], before = true, w.states
	}
	for id := range uint32(v.states.n) + 1 {
		for ; len(v.shortened) > 0 && v.shortened[0].states == id; v.shortened = v.shortened[1:] {
			enqueue(v.shortened[0].id)
		}
		if int(id) < v.states.n && !moved[id] {
			enqueue(id)
		}
	}
	v.shortened = nil
	if v.spent < 0 || v.spent >= len(v.queue) || v.depth < 0 || v.depth >= len(v.queue[v.spent]) {
		return nil, errUnsound
	}
	present = v.queue[v.spent][v.depth]
	if v.place < 0 || v.place > len(present) {
		return nil, errUnsound
	}
	if v.place > 0 {
		deepest = max(deepest, v.depth)
	}
	if visited != v.expanded || deepest != v.deepest || len(v.triggered) > len(s.search.choices) || v.transitions < v.states.n-1 {
		return nil, errUnsound
	}
	return slices.Clone(present[:v.place]), nil
}
