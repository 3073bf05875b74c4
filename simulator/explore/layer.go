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

// layerWriter enters the arcs of one layer: those of a small layer at once, those of a
// large one in a goroutine of its own.
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
