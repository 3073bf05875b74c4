package explore

import (
	"cmp"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"

	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// visited is the set of all states that were reached, with the order in which they are to be visited, and what was
// found. Arcs are entered in the order in which they were computed: the number of cores makes no difference.
type visited struct {
	opt    *Options
	states *store
	queue  [][][]uint32 // states by faults and steps, in the order in which they were reached so
	wanted []Witness    // what is to be found; nil: everything is to be visited
	found  map[finding]*discovery

	spent int // faults of the layer that is visited
	depth int // and its steps

	transitions, deepest, expanded int
	histories, lengths             int
	triggered                      []bool // by choice: a fault that was injected

	done        bool // nothing is left to visit
	stopped     atomic.Bool
	limit       i18n.Message // why there is enough, if there was no room for more
	outOfMemory bool         // Options.MaxBytes is why there is enough
	cutAt       uint32       // enough: the place in its layer of the last state whose arcs count
	batches     []*batch
}

// finding is a verdict by a cause.
type finding struct {
	word  verdict.Word
	cause uint32
}

type discovery struct {
	par, steps int
	state      uint32
	choice     uint16
	failed     bool // the choice could not be made
}

func newVisited(width int, opt *Options) *visited {
	l := &visited{opt: opt, states: newStore(width), found: map[finding]*discovery{}}
	for range 16 {
		l.batches = append(l.batches, &batch{width: width})
	}
	return l
}

// begin enters the first state.
func (v *visited) begin(words []uint32) {
	v.states.add(words, 0, 0, 0)
	v.enqueue(0, 0, 0)
}

// enqueue has a state visited in the layer of its faults and steps.
func (v *visited) enqueue(id uint32, faults int, steps uint32) {
	for len(v.queue) <= faults {
		v.queue = append(v.queue, nil)
	}
	q := &v.queue[faults]
	for len(*q) <= int(steps) {
		*q = append(*q, nil)
	}
	(*q)[steps] = append((*q)[steps], id)
}

// layer returns the states to visit next: those with the fewest steps among those with the fewest faults. nil: none.
func (v *visited) layer() []uint32 {
	if v.stopped.Load() {
		return nil
	}
	for ; v.spent < len(v.queue); v.spent, v.depth = v.spent+1, 0 {
		for q := v.queue[v.spent]; v.depth < len(q); v.depth++ {
			layer := q[v.depth]
			q[v.depth] = nil
			// without those that were reached by a shorter way since
			layer = slices.DeleteFunc(layer, func(id uint32) bool { return v.states.depth(id) != uint32(v.depth) })
			if len(layer) == 0 {
				continue
			}
			if v.satisfied() {
				return nil
			}
			v.deepest = max(v.deepest, v.depth)
			return layer
		}
		v.queue[v.spent] = nil
	}
	v.done = true
	return nil
}

// satisfied reports whether all that is wanted was found, by ways that no state of the layer can shorten.
func (v *visited) satisfied() bool {
	if v.wanted == nil {
		return false
	}
	for _, f := range v.wanted {
		d := v.found[finding{f.Verdict, f.cause}]
		missing := d == nil || d.par > v.spent || d.par == v.spent && d.steps > v.depth+1
		if missing && f.Par >= v.spent { // with more faults it is another finding
			return false
		}
	}
	return true
}

// ended reports whether the search has done all that it was to do.
func (v *visited) ended() bool { return v.done || v.satisfied() }

// enterAll enters the arcs of a batch. before is how many states were visited when its layer began.
func (v *visited) enterAll(b *batch, before int) {
	if !v.stopped.Load() {
		v.histories, v.lengths = b.histories, b.lengths
	}
	for i := range b.arcs {
		a := &b.arcs[i]
		if v.stopped.Load() && a.at != v.cutAt {
			break
		}
		v.enter(b.wordsOf(i), a)
		full := v.opt.MaxStates > 0 && v.states.n >= v.opt.MaxStates
		if !v.stopped.Load() && full {
			v.stopAt(a.at)
			v.expanded = before + int(a.at) + 1
		}
		if most := cmp.Or(v.opt.Plain.States, maxStates); v.states.n >= most && !v.stopped.Load() {
			v.limit = i18n.New("limit.search", "n", most, "what", i18n.New("limit.of.states"))
			v.stopAt(a.at)
			v.expanded = before + int(a.at) + 1
		}
	}
	if !v.stopped.Load() {
		v.report(before + int(b.at))
		if v.satisfied() {
			v.stopAt(b.at)
		}
	}
	b.clear()
}

func (v *visited) stopAt(at uint32) {
	v.cutAt = at
	v.stopped.Store(true)
}

// report calls Progress and checks the memory, from time to time.
func (v *visited) report(visited int) {
	if visited>>14 == v.expanded>>14 {
		return
	}
	v.expanded = visited
	if v.opt.Progress != nil {
		v.opt.Progress(v.result())
	}
	if v.opt.MaxBytes > 0 && v.short() {
		v.outOfMemory = true
		v.stopAt(^uint32(0))
	}
}

// short reports whether the program is about to use more memory than it may. What is garbage
// does not count. An eighth is left for what comes after the search: its witnesses.
func (v *visited) short() bool {
	most := v.opt.MaxBytes - v.opt.MaxBytes/8 - v.states.growth()
	if Memory() <= most {
		return false
	}
	debug.FreeOSMemory()
	return Memory() > most
}

// enter counts an arc, and numbers and queues the state that it leads to if that is new.
func (v *visited) enter(words []uint32, a *arc) {
	v.transitions++
	steps, faults := v.depth+1, v.spent+int(a.faults)
	if a.faults > 0 {
		for len(v.triggered) <= int(a.via) {
			v.triggered = append(v.triggered, false)
		}
		v.triggered[a.via] = true
	}
	if a.found != 0 {
		v.discover(a, faults, steps)
	}
	id, fresh := v.states.add(words, a.from, a.via, uint32(steps))
	if !fresh {
		if steps < int(v.states.depth(id)) {
			v.shorten(id, a, uint32(steps))
		}
		return
	}
	v.enqueue(id, faults, uint32(steps))
}

func (v *visited) discover(a *arc, par, steps int) {
	for w := range a.found.Each {
		f := finding{w, a.cause}
		if d := v.found[f]; d == nil || par < d.par || par == d.par && steps < d.steps {
			v.found[f] = &discovery{par: par, steps: steps, state: a.from, choice: a.via}
		}
	}
}

// shorten notes a shorter way to a state that was first reached by a fault at the end of a longer way. Such a state
// waits until its level begins, because faults count before steps, so nothing has followed from it yet.
func (v *visited) shorten(id uint32, a *arc, depth uint32) {
	v.states.shorten(id, a.from, a.via, depth)
	v.enqueue(id, v.spent, depth)
}

// result returns the part of the result that visited knows.
func (v *visited) result() *Result {
	r := &Result{
		settled:  v.ended(),
		Complete: v.done, States: v.states.n, Transitions: v.transitions, Depth: v.deepest,
		Open: v.states.n - v.expanded, Bytes: v.states.bytes(), Histories: v.histories,
		Limit: v.limit, OutOfMemory: v.outOfMemory,
	}
	for f, d := range v.found {
		r.Found = append(r.Found, Witness{Verdict: f.word, Par: d.par, Steps: d.steps, cause: f.cause})
	}
	slices.SortFunc(r.Found, func(a, b Witness) int {
		return cmp.Or(cmp.Compare(slices.Index(verdict.All, a.Verdict), slices.Index(verdict.All, b.Verdict)),
			cmp.Compare(a.Par, b.Par), cmp.Compare(a.Steps, b.Steps), cmp.Compare(a.cause, b.cause))
	})
	return r
}

// Memory returns the bytes that the program has from the operating system, which Limits.MaxBytes bounds.
func Memory() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64() - m[1].Value.Uint64())
}

// arc is a step from one state to another, whose words are in the batch.
type arc struct {
	from   uint32
	at     uint32 // from's place in its layer
	via    uint16
	found  verdict.Set
	faults uint8
	cause  uint32 // of what was found
}

// batch is a list of arcs that are not entered yet.
type batch struct {
	at        uint32 // of the state that is visited
	histories int    // entries of the clients' tables when the batch was full
	lengths   int    // that were met by then
	width     int
	words     []uint32
	arcs      []arc
}

// batchSize is the number of arcs for which a batch is full.
const batchSize = 1 << 12

func (b *batch) add(words []uint32, a arc) {
	a.at = b.at
	b.words = append(b.words, words...)
	b.arcs = append(b.arcs, a)
}

// wordsOf returns the words of the state that an arc leads to.
func (b *batch) wordsOf(arc int) []uint32 { return b.words[arc*b.width : (arc+1)*b.width] }

// cut leaves the first n arcs.
func (b *batch) cut(n int) { b.words, b.arcs = b.words[:n*b.width], b.arcs[:n] }

func (b *batch) full() bool { return len(b.arcs) >= batchSize }

func (b *batch) clear() { b.words, b.arcs = b.words[:0], b.arcs[:0] }

// layerWriter enters the arcs of one layer: those of a small one at once, of a large one in a goroutine of its own.
type layerWriter struct {
	*visited
	before        int // states visited when the layer began
	written       int // states of it from which all that follows is written; 0: that is not known
	filled, empty chan *batch
	entering      sync.WaitGroup
}

// open begins a layer of so many states.
func (v *visited) open(size int) *layerWriter {
	w := &layerWriter{visited: v, before: v.expanded}
	if size < 1<<9 {
		return w
	}
	w.filled, w.empty = make(chan *batch, len(v.batches)), make(chan *batch, len(v.batches))
	for _, b := range v.batches {
		w.empty <- b
	}
	w.entering.Go(func() {
		for b := range w.filled {
			v.enterAll(b, w.before)
			w.empty <- b
		}
	})
	return w
}

// emptyBatch is a batch to be filled; nil: no further arcs are needed.
func (w *layerWriter) emptyBatch() *batch {
	switch {
	case w.stopped.Load():
		return nil
	case w.filled == nil:
		return w.batches[0]
	}
	return <-w.empty
}

func (w *layerWriter) write(b *batch) {
	if w.filled == nil {
		w.enterAll(b, w.before)
		return
	}
	w.filled <- b
}

// close ends the layer, when all that was written is entered.
func (w *layerWriter) close() {
	if w.filled != nil {
		close(w.filled)
		w.entering.Wait()
	}
	if w.written > 0 && !w.stopped.Load() {
		w.expanded = w.before + w.written
	}
}
