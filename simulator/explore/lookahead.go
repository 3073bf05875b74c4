package explore

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"locklab/simulator"
	"locklab/simulator/intern"
)

// After its first states a search looks up nearly all that follows from a state: the tables have it. So while it visits
// the states of a layer in order, workers, one for each further core that no other search has, look up what follows
// from those that come soon. A state for which the tables lack something is left to the search, which computes it in
// its turn. So all is numbered in the same order as without workers, and results are the same on any number of cores.
//
// The search goes through a round of states forwards and computes what the workers have not. They go through it
// backwards, and where they meet the search they go on in the next round. So one waits for another for a chunk at most.
//
// Workers read copies of the tables (readers), whose slices share their memory with the tables. What the search appends
// is beyond the ends of these slices. What it changes in place, columns and memos, it sets once, by an atomic store: a
// worker has it or lacks it. Maps are copied, but for those of recounts, which have a lock.

// lookahead holds what follows from the states that are visited next, as far as workers have computed it.
type lookahead struct {
	workers       []*worker
	rounds        [2]round
	present, next *round                     // of these
	reader        atomic.Pointer[successors] // with copies of the tables as they were when the present round began
	working       sync.WaitGroup
	stopped       atomic.Bool
	rests         int // states that are visited before the next round
}

// searches are the models that are searched at the same time. They share the cores.
var searches atomic.Int32

// idle is the number of cores that no search of a model has for itself.
func idle() int { return max(runtime.GOMAXPROCS(0)-int(searches.Load()), 0) }

// cores returns the number of cores that a search may use.
func cores(opt *Options) int {
	if opt.Plain.Workers {
		return 1
	}
	return 1 + min(idle(), runtime.GOMAXPROCS(0)-1)
}

// worker is the scratch memory of a goroutine, which locks it.
type worker struct {
	sync.Mutex
	cur, next []uint32
	moves     []move
}

// round is some states that follow one another.
type round struct {
	chunks         [roundSize / chunkSize]chunk
	size           int // states
	at             int // of them, so many were visited
	looked, missed int // of these, so many were computed by workers, and of these so many lacked something
}

// chunk is some states of a round that one goroutine computes, one after the other.
type chunk struct {
	sync.Mutex
	ids   []uint32
	taken bool // by a worker, or by the search
	out   batch
	ends  []int // by state: the end of its arcs in out; missing: the tables lacked something. Empty: the search has it
}

const (
	missing    = -1
	chunkSize  = 1 << 4
	roundSize  = 1 << 11
	leastRound = 1 << 8 // fewer states are visited sooner than workers are started
)

// met is numbers.Has for all components of a state.
func (t *tables) met(state []uint32) {
	if !t.numbers.ReadOnly {
		return
	}
	t.numbers.Has(state[t.restAt], len(t.restTab.Keys))
	t.numbers.Has(state[t.judgeAt], len(t.judgeTab.Keys))
	for c := range t.clientTab {
		t.numbers.Has(state[c], len(t.clientTab[c].Keys))
	}
	for n := range t.nodes {
		t.numbers.Has(state[t.clients+n], len(t.nodeTab.Keys))
	}
	if len(state) > t.timeAt {
		t.numbers.Has(state[t.timeAt], len(t.times.Keys))
	}
}

// traits returns what code was seen to do, of readers: by the time at which they were made.
func (r *numbers) traits(sim *simulator.Simulator) simulator.Traits {
	if r.ReadOnly {
		return r.seen
	}
	return sim.Traits()
}

// follow adds to out what follows from the first state that s is to visit, if known; false: the search computes it.
func (a *lookahead) follow(s *search, layer []uint32, states *store, out *batch) bool {
	if a.present.at >= a.present.size && !a.look(s, layer, states) {
		return false
	}
	r := a.present
	c, i := &r.chunks[r.at/chunkSize], r.at%chunkSize
	if i == 0 {
		c.take()
	}
	r.at++
	if len(c.ends) == 0 {
		return false
	}
	r.looked++
	if c.ends[i] == missing {
		r.missed++
		return false
	}
	out.copy(&c.out, c.begin(i), c.ends[i])
	return true
}

// take has the search take a chunk, or waits until the worker that has taken it has computed it.
func (c *chunk) take() {
	c.Lock()
	c.taken = true
	c.Unlock()
}

// begin returns the first arc of a state in out.
func (c *chunk) begin(i int) int {
	for i--; i >= 0; i-- {
		if c.ends[i] != missing {
			return c.ends[i]
		}
	}
	return 0
}

// look begins a round at the first of these states; false: there is none, since there is one
// core, there are few states, or too much was missing the last time.
func (a *lookahead) look(s *search, layer []uint32, states *store) bool {
	if r := a.present; 2*r.missed > max(r.looked, r.size/4) {
		a.rests = roundSize
	}
	a.present.clear()
	a.present, a.next = a.next, a.present
	further, few := cores(&s.opt)-1, len(layer)-a.present.size < leastRound
	if further <= 0 || few || s.opt.Causes || s.numbers.Exceeded != nil || a.rests > 0 {
		a.rests = max(a.rests-1, 0)
		return a.present.size > 0
	}
	a.reader.Store(newReader(s.successors))
	for len(a.workers) < further {
		a.workers = append(a.workers, &worker{cur: make([]uint32, s.stride()), next: make([]uint32, s.stride())})
	}
	if a.present.size == 0 {
		a.begin(a.present, layer, states, further)
	}
	if rest := layer[a.present.size:]; len(rest) >= leastRound {
		a.begin(a.next, rest, states, further)
	}
	return true
}

// begin begins a round at the first of these states. Nothing works on it.
func (a *lookahead) begin(r *round, layer []uint32, states *store, cores int) {
	ids := layer[:min(len(layer), roundSize)]
	r.size = len(ids)
	for i := range r.chunks {
		c := &r.chunks[i]
		c.Lock()
		c.ids, c.ends, c.taken = ids[min(len(ids), i*chunkSize):min(len(ids), (i+1)*chunkSize)], c.ends[:0], false
		c.Unlock()
	}
	for _, w := range a.workers[:cores] {
		a.working.Go(func() { a.work(w, r, states) })
	}
}

// clear ends a round, of which the search has taken all or no worker works any longer.
func (r *round) clear() { r.size, r.at, r.looked, r.missed = 0, 0, 0, 0 }

// work computes those chunks of a round that are not taken, the last one first.
func (a *lookahead) work(w *worker, r *round, states *store) {
	w.Lock() // as soon as it has done with the round before
	defer w.Unlock()
	for i := len(r.chunks) - 1; i >= 0 && !a.stopped.Load(); i-- {
		c := &r.chunks[i]
		if !c.TryLock() {
			continue
		}
		if !c.taken {
			c.taken = true
			c.fill(w, a.reader.Load(), states)
		}
		c.Unlock()
	}
}

// end ends the work on a layer, or has it begin.
func (a *lookahead) end() {
	a.stopped.Store(true)
	a.working.Wait()
	a.stopped.Store(false)
	a.reader.Store(nil)
	a.present, a.next = &a.rounds[0], &a.rounds[1]
	a.present.clear()
	a.next.clear()
}

// newReader makes a copy of s with copies of all tables. What they lack it does not compute.
func newReader(s *successors) *successors {
	o, t, made, q := *s, *s.tables, *s.transitions, *s.quotient
	o.tables, o.transitions, o.quotient = &t, &made, &q
	t.numbers = &numbers{Room: intern.Room{ReadOnly: true}, seen: s.sim.Traits()}
	t.choiceID, t.clientTab = maps.Clone(t.choiceID), slices.Clone(t.clientTab)
	for c := range t.clientTab {
		t.clientTab[c].Room = &t.numbers.Room
	}
	rooms := []**intern.Room{
		&t.nodeTab.Room, &t.restTab.Room, &t.judgeTab.Room, &t.times.Room, &t.causes.Room, &t.events.Room,
	}
	for _, room := range rooms {
		*room = &t.numbers.Room
	}
	made.tables, made.passed = &t, copied(made.passed)
	q.tables, q.renames = &t, copied(q.renames)
	if t.again != nil {
		a := *t.again
		a.tables, a.quotient = &t, &q
		if a.recounts != nil {
			r := *a.recounts
			r.again, a.recounts = &a, &r
		}
		t.again, q.again = &a, &a
	}
	return &o
}

// copied is a map with copies of the values of another one.
func copied[K comparable, V any](of map[K]*V) map[K]*V {
	to := make(map[K]*V, len(of))
	for k, v := range of {
		own := *v
		to[k] = &own
	}
	return to
}

// fill computes a chunk by a worker.
func (c *chunk) fill(w *worker, read *successors, states *store) {
	by := *read
	by.cur, by.next, by.moves, by.out = w.cur, w.next, w.moves, &c.out
	c.out.clear()
	c.out.width = len(by.cur)
	for _, id := range c.ids {
		before := len(c.out.arcs)
		if known(&by, id, states.words(id)) {
			c.ends = append(c.ends, len(c.out.arcs))
		} else {
			c.out.cut(before)
			c.ends = append(c.ends, missing)
		}
	}
	w.moves = by.moves
}

// known adds what follows from a state to the batch; false: what was missing or wrong the search meets in its turn.
func known(by *successors, id uint32, words []uint32) (all bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case intern.Lack:
			all = false
		default:
			panic(r)
		}
	}()
	copy(by.cur, words)
	if err := by.quotient.restore(by.cur); err != nil {
		return false
	}
	by.quotient.met(by.cur)
	return by.expand(id) == nil
}

// copy adds some arcs of another batch.
func (b *batch) copy(from *batch, begin, end int) {
	b.words = append(b.words, from.words[begin*b.width:end*b.width]...)
	for _, a := range from.arcs[begin:end] {
		a.at = b.at
		b.arcs = append(b.arcs, a)
	}
}
