package explore

import (
	"sync"
)

// arc is a step from one state to another, whose words are in the batch.
type arc struct {
	from   uint32
	at     uint32 // from's place in its layer
	via    uint16
	found  wordSet
	faults uint8
	cause  uint32 // of what was found
}

// batch is a list of arcs that are not entered yet.
type batch struct {
	at        uint32 // of the state that is visited
	histories int    // entries of the clients' tables when the batch was full
	lengths   int    // that were met by then
	width     int
	size      int // arcs, for which it is full
	words     []uint32
	arcs      []arc
}

// batchSize is the usual number of arcs of a batch.
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

func (b *batch) full() bool { return len(b.arcs) >= b.size }

func (b *batch) clear() { b.words, b.arcs = b.words[:0], b.arcs[:0] }

// layerWriter enters the arcs of one layer: those of a small layer at once, those of a
// large one in a goroutine of its own.
type layerWriter struct {
	*visited
	before        int // states visited when the layer began
	place         int // and how many of them are of the same layer, visited before
	size          int // states of the layer that are to be visited
	filled, empty chan *batch
	entering      sync.WaitGroup
}

// open begins a layer of so many states.
func (v *visited) open(size int) *layerWriter {
	w := &layerWriter{visited: v, before: v.expanded, place: v.place, size: size}
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

// reach waits until all that was written is entered, which is what follows from the first
// n states. No batch may be in use.
func (w *layerWriter) reach(n int) {
	if w.filled != nil {
		for range w.batches {
			defer func(b *batch) { w.empty <- b }(<-w.empty)
		}
	}
	w.visitedTo(n)
}

func (w *layerWriter) visitedTo(n int) {
	if !w.stopped.Load() {
		w.expanded, w.visited.place = w.before+n, w.place+n
	}
}

// close ends the layer. all: every state of it was visited.
func (w *layerWriter) close(all bool) {
	if w.filled != nil {
		close(w.filled)
		w.entering.Wait()
	}
	if all {
		w.visitedTo(w.size)
	}
}
