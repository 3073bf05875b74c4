package explore

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// After its first states a search looks up nearly all that follows from a state: the tables have it.
// So before the states of a round are visited in their order, workers, one for each core that no other search has, compute
// what follows from each of them, on tables that are only read meanwhile. A state for which the tables lack
// something is left to the search, which computes it in its turn. So everything is numbered in
// the same order as without workers, and every result is the same on any number of cores.

// lookahead holds what follows from the states that are visited next, as far as workers have computed it.
type lookahead struct {
	workers []*successors
	chunks  []chunk // of the round
	size    int     // states of the round
	at      int     // of them, so many were visited
	missed  int     // and so many of these lacked something
	rests   int     // states that are visited before the next round
}

// searches are the models that are searched at the same time. They share the cores.
var searches atomic.Int32

// Idle returns the number of cores that no search of a model has for itself.
func Idle() int { return max(runtime.GOMAXPROCS(0)-int(searches.Load()), 0) }

// chunk is some states that one worker computes, one after the other.
type chunk struct {
	out  batch
	ends []int // by state: the end of its arcs in out; missing: the tables lacked something
}

const (
	missing    = -1
	chunkSize  = 1 << 6
	roundSize  = 1 << 10
	leastRound = 1 << 8 // fewer states are visited sooner than workers are started
)

// lacking is called before anything is computed that the tables lack.
func (r *numbers) lacking() {
	if r.readOnly {
		panic("explore: the tables lack something, and are only read") // known meets it
	}
}

// follow adds to out what follows from the first of the states that s is to visit, if it is known
// by now; false: the search has to compute it.
func (a *lookahead) follow(s *search, layer []uint32, states *store, out *batch) bool {
	if a.at == a.size && !a.look(s, layer, states) {
		return false
	}
	c, i := &a.chunks[a.at/chunkSize], a.at%chunkSize
	a.at++
	if c.ends[i] == missing {
		a.missed++
		return false
	}
	out.copy(&c.out, c.begin(i), c.ends[i])
	return true
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

// look computes a round from the first of these states; false: there is none, since there is one
// core, there are few states, or too much was missing the last time.
func (a *lookahead) look(s *search, layer []uint32, states *store) bool {
	if 2*a.missed > a.size {
		a.rests = roundSize
	}
	a.size, a.at, a.missed = 0, 0, 0
	if a.rests > 0 {
		a.rests--
		return false
	}
	cores := min(1+Idle(), runtime.GOMAXPROCS(0))
	if cores == 1 || s.opt.Plain.Workers || s.opt.Causes || len(layer) < leastRound || s.numbers.full != nil {
		return false
	}
	for len(a.workers) < cores {
		a.workers = append(a.workers, another(s.successors))
	}
	a.size = min(len(layer), roundSize)
	chunks := (a.size + chunkSize - 1) / chunkSize
	for len(a.chunks) < chunks {
		a.chunks = append(a.chunks, chunk{out: batch{width: s.stride()}})
	}
	s.numbers.readOnly = true
	defer func() { s.numbers.readOnly = false }()
	var taken atomic.Int32
	var working sync.WaitGroup
	for _, w := range a.workers[:cores] {
		working.Go(func() {
			for at := int(taken.Add(1)) - 1; at < chunks; at = int(taken.Add(1)) - 1 {
				a.chunks[at].fill(w, layer[at*chunkSize:min((at+1)*chunkSize, a.size)], states)
			}
		})
	}
	working.Wait()
	return true
}

// another shares all but its scratch memory with s.
func another(s *successors) *successors {
	o := *s
	o.cur, o.next, o.moves = make([]uint32, len(s.cur)), make([]uint32, len(s.next)), nil
	return &o
}

// fill computes a chunk by a worker.
func (c *chunk) fill(by *successors, ids []uint32, states *store) {
	c.out.clear()
	c.ends = c.ends[:0]
	by.out = &c.out
	for _, id := range ids {
		before := len(c.out.arcs)
		if known(by, id, states.words(id)) {
			c.ends = append(c.ends, len(c.out.arcs))
		} else {
			c.out.cut(before)
			c.ends = append(c.ends, missing)
		}
	}
}

// known adds what follows from a state to the worker's batch; false: something was missing, or wrong, which the search
// meets in its turn.
func known(by *successors, id uint32, words []uint32) (all bool) {
	defer func() { all = recover() == nil && all }()
	copy(by.cur, words)
	return by.quotient.restore(by.cur) == nil && by.expand(id) == nil
}

// copy adds some arcs of another batch.
func (b *batch) copy(from *batch, begin, end int) {
	b.words = append(b.words, from.words[begin*b.width:end*b.width]...)
	for _, a := range from.arcs[begin:end] {
		a.at = b.at
		b.arcs = append(b.arcs, a)
	}
}
