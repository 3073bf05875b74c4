package explore

import (
	"cmp"
	"fmt"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"

	"locklab/simulator/verdict"
)

// ledger knows the states: which there are, in what order they are to be
// visited, and what was found on the way. Entries are made in the order in which
// they were worked out, so that a search comes out the same on one core and on
// two.
type visited struct {
	opt    *Options
	states *store
	queue  []level   // by strikes
	wanted []Witness // what there is to find; nil: everything is to be visited
	tally
	found map[finding]*discovery

	done       bool // nothing is left to visit
	stopped    atomic.Bool
	limit      string // why there is enough, if there was no room for more
	cutAt      uint32 // enough: the place in its layer of the last state whose arcs count
	shortened  []way  // within the layer that is visited: the ways that were longer
	checkpoint Kept
	batches    []*batch
}

// tally is what the ledger has counted.
type tally struct {
	spent int // strikes of the layer that is visited
	depth int // and its steps

	transitions, deepest, expanded int
	histories                      int
	triggered                      []bool // by choice: a fault that has struck
}

// way is how a state was first reached.
type way struct {
	id, parent, depth uint32
	via               uint16
}

// level is the states with the same number of strikes that are still to be
// visited, in order of depth: those that came from one strike less, and those
// that came from the level itself.
type level struct {
	below, own []uint32
	moved      map[uint32]bool // from below to own: within the level there was a shorter way
}

// finding is a harm by a cause.
type finding struct {
	word  verdict.Word
	cause uint32
}

func (f finding) compare(o finding) int {
	return cmp.Or(cmp.Compare(slices.Index(order, f.word), slices.Index(order, o.word)), cmp.Compare(f.cause, o.cause))
}

type discovery struct {
	par, steps int
	state      uint32
	choice     uint16
}

// arc is a step from one state to another, which the batch holds beside it.
type arc struct {
	from   uint32
	at     uint32 // from's place in its layer
	via    uint16
	found  wordSet
	faults uint8
	cause  uint32 // of what was found
}

// batch is arcs on their way to the ledger.
type batch struct {
	at        uint32 // of the state that is visited
	histories int    // entries of the clients' tables when the batch was full
	width     int
	words     []uint32
	arcs      []arc
}

const batchSize = 1 << 12

func (b *batch) add(words []uint32, a arc) {
	a.at = b.at
	b.words = append(b.words, words...)
	b.arcs = append(b.arcs, a)
}

// cut leaves the first n arcs.
func (b *batch) cut(n int) { b.words, b.arcs = b.words[:n*b.width], b.arcs[:n] }

func (b *batch) full() bool { return len(b.arcs) >= batchSize }

func (b *batch) clear() { b.words, b.arcs = b.words[:0], b.arcs[:0] }

func newVisited(width int, opt *Options) *visited {
	l := &visited{opt: opt, states: newStore(width), found: map[finding]*discovery{}}
	for range 3 {
		l.batches = append(l.batches, &batch{width: width})
	}
	return l
}

// begin enters the first state.
func (l *visited) begin(words []uint32) {
	l.states.add(words, 0, 0, 0)
	l.queue = []level{{own: []uint32{0}}}
}

// layer takes out the states that are to be visited next: those with the fewest
// steps among those with the fewest strikes. nil: the search is at its end.
func (l *visited) layer() (ids []uint32) {
	for ; l.spent < len(l.queue); l.spent++ {
		q := &l.queue[l.spent]
		l.depth = q.depth(l.states)
		if l.depth < 0 {
			*q = level{}
			continue
		}
		if l.stopped.Load() || l.satisfied() {
			return nil
		}
		l.deepest = max(l.deepest, l.depth)
		return q.take(l.states, l.depth)
	}
	l.done = true
	return nil
}

// depth is that of the states to visit next; -1: there are none.
func (q *level) depth(states *store) int {
	for len(q.below) > 0 && q.moved[q.below[0]] {
		q.below = q.below[1:]
	}
	depth := -1
	if len(q.own) > 0 {
		depth = int(states.depth(q.own[0]))
	}
	if len(q.below) > 0 {
		if d := int(states.depth(q.below[0])); depth < 0 || d < depth {
			depth = d
		}
	}
	return depth
}

// take takes out the states of a depth.
func (q *level) take(states *store, depth int) (ids []uint32) {
	for len(q.below) > 0 && (q.moved[q.below[0]] || int(states.depth(q.below[0])) == depth) {
		if !q.moved[q.below[0]] {
			ids = append(ids, q.below[0])
		}
		q.below = q.below[1:]
	}
	n := 0
	for n < len(q.own) && int(states.depth(q.own[n])) == depth {
		n++
	}
	if ids == nil {
		ids = q.own[:n:n]
	} else {
		ids = append(ids, q.own[:n]...)
	}
	q.own = q.own[n:]
	return ids
}

// satisfied says whether everything wanted is found, by ways that no state of
// the layer can shorten.
func (l *visited) satisfied() bool {
	if l.wanted == nil {
		return false
	}
	for _, f := range l.wanted {
		d := l.found[finding{f.Verdict, f.cause}]
		if d == nil || d.par > l.spent || d.par == l.spent && d.steps > l.depth+1 {
			return false
		}
	}
	return true
}

// ended says whether the search has done all that it was to do.
func (l *visited) ended() bool { return l.done || l.satisfied() }

// desk is where the arcs of one layer are handed in. A small layer is entered on
// the spot, a large one is worth a second core.
type layerWriter struct {
	*visited
	before        int // states visited when the layer began
	size          int // states of the layer
	filled, empty chan *batch
	entering      sync.WaitGroup
}

// open begins a layer of so many states.
func (l *visited) open(size int) *layerWriter {
	d := &layerWriter{visited: l, before: l.expanded, size: size}
	if size < 1<<9 {
		return d
	}
	d.filled, d.empty = make(chan *batch, len(l.batches)), make(chan *batch, len(l.batches))
	for _, b := range l.batches {
		d.empty <- b
	}
	d.entering.Go(func() {
		for b := range d.filled {
			l.enterAll(b, d.before)
			d.empty <- b
		}
	})
	return d
}

// blank is an empty batch; nil: the ledger has enough.
func (d *layerWriter) emptyBatch() *batch {
	switch {
	case d.stopped.Load():
		return nil
	case d.filled == nil:
		return d.batches[0]
	}
	return <-d.empty
}

func (d *layerWriter) write(b *batch) {
	if d.filled == nil {
		d.enterAll(b, d.before)
		return
	}
	d.filled <- b
}

// close ends the layer; all says that every state of it was visited.
func (d *layerWriter) close(all bool) {
	if d.filled != nil {
		close(d.filled)
		d.entering.Wait()
	}
	if all && !d.stopped.Load() {
		d.expanded = d.before + d.size
		d.shortened = d.shortened[:0]
	}
}

// enterAll enters the arcs of a batch. before is how many states were visited
// when its layer began.
func (l *visited) enterAll(b *batch, before int) {
	if !l.stopped.Load() {
		l.histories = b.histories
	}
	for i := range b.arcs {
		a := &b.arcs[i]
		if l.stopped.Load() && a.at != l.cutAt {
			break
		}
		l.enter(b.words[i*b.width:(i+1)*b.width], a)
		if l.opt.MaxStates > 0 && l.states.n >= l.opt.MaxStates && !l.stopped.Load() {
			l.stopAt(a.at)
			l.expanded = before + int(a.at) + 1
		}
		if l.states.n >= maxStates && !l.stopped.Load() {
			l.limit = fmt.Sprintf("the search has numbers for %d states and no more: give it smaller bounds", maxStates)
			l.stopAt(a.at)
			l.expanded = before + int(a.at) + 1
		}
	}
	if !l.stopped.Load() {
		l.report(before + int(b.at))
		if l.satisfied() {
			l.stopAt(b.at)
		}
	}
	b.clear()
}

func (l *visited) stopAt(at uint32) {
	l.cutAt = at
	l.stopped.Store(true)
}

// look tells who asks how far the search has come, now and then, and minds the
// memory.
func (l *visited) report(visited int) {
	if visited>>14 == l.expanded>>14 {
		return
	}
	l.expanded = visited
	if l.opt.Progress != nil {
		l.opt.Progress(l.result())
	}
	if l.opt.MaxBytes > 0 && memory() > l.opt.MaxBytes {
		l.stopAt(^uint32(0))
	}
}

// enter notes an arc, and numbers and queues the state that it leads to, if it
// is new.
func (l *visited) enter(words []uint32, a *arc) {
	l.transitions++
	steps, strikes := l.depth+1, l.spent+int(a.faults)
	if a.faults > 0 {
		for len(l.triggered) <= int(a.via) {
			l.triggered = append(l.triggered, false)
		}
		l.triggered[a.via] = true
	}
	if a.found != 0 {
		l.discover(a, strikes, steps)
	}
	id, fresh := l.states.add(words, a.from, a.via, uint32(steps))
	if !fresh {
		if steps < int(l.states.depth(id)) {
			l.shorten(id, a, uint32(steps))
		}
		return
	}
	for len(l.queue) <= strikes {
		l.queue = append(l.queue, level{})
	}
	if q := &l.queue[strikes]; strikes > l.spent {
		q.below = append(q.below, id)
	} else {
		q.own = append(q.own, id)
	}
}

func (l *visited) discover(a *arc, par, steps int) {
	for i, w := range order {
		if a.found&(1<<i) == 0 {
			continue
		}
		f := finding{w, a.cause}
		if d := l.found[f]; d == nil || par < d.par || par == d.par && steps < d.steps {
			l.found[f] = &discovery{par, steps, a.from, a.via}
		}
	}
}

// shorten notes a shorter way to a state that was first reached by a strike, at
// the end of a longer way: strikes count before steps, so such a state waits
// until its level begins, and nothing has followed from it yet.
func (l *visited) shorten(id uint32, a *arc, depth uint32) {
	st := l.states
	l.shortened = append(l.shortened, way{id, st.parent(id), st.depth(id), st.via(id)})
	st.shorten(id, a.from, a.via, depth)
	q := &l.queue[l.spent]
	if q.moved == nil {
		q.moved = map[uint32]bool{}
	}
	q.moved[id] = true
	q.own = append(q.own, id)
}

// result is what the ledger knows of one.
func (l *visited) result() *Result {
	r := &Result{
		Complete: l.done, States: l.states.n, Transitions: l.transitions, Depth: l.deepest,
		Open: l.states.n - l.expanded, Bytes: l.states.bytes(), Histories: l.histories, Limit: l.limit, Kept: l.checkpoint,
	}
	for f, d := range l.found {
		r.Found = append(r.Found, Witness{Verdict: f.word, Par: d.par, Steps: d.steps, cause: f.cause})
	}
	slices.SortFunc(r.Found, func(a, b Witness) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Verdict), slices.Index(order, b.Verdict)),
			cmp.Compare(a.Par, b.Par), cmp.Compare(a.Steps, b.Steps), cmp.Compare(a.cause, b.cause))
	})
	return r
}

// memory is what the program has from the operating system.
func memory() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64() - m[1].Value.Uint64())
}
