package simulator

import (
	"errors"
	"fmt"

	"locklab/simulator/internal/codec"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Process returns the code of client c, from 1. Its histories name what the tables of the simulator have.
func (s *Simulator) Process(c int) *process.Process { return s.clients.procs[c-1] }

// Writing writes histories of one client in texts, and reads them: in texts a history means the same to every simulator
// of the same config, which replays it on the code.
type Writing struct {
	p     *process.Process
	words *node.Words
}

// Writing returns what writes the histories of client c, from 1.
func (s *Simulator) Writing(c int) Writing { return Writing{s.Process(c), &s.clients.words} }

// Texts are the fields of a plain value that are not zero, by their paths; see package codec.
type Texts = map[string]string

// A WrittenHistory is a history of a client, and a WrittenSeen one of its observations, in texts.
type (
	WrittenHistory struct {
		Root Texts // as which its process began
		Seen []WrittenSeen
	}
	WrittenSeen struct {
		Seen   Texts // an Observation
		Answer Texts // nil: it is none
	}
)

var errWritten = errors.New("simulator: a written history does not fit")

// History writes a history.
func (ws Writing) History(at uint32) (w WrittenHistory) {
	root, way := process.History(ws.p, at)
	w.Root = root.Write()
	for _, at := range way[1:] {
		e, one := ws.p.At(at), WrittenSeen{}
		seen := e.Seen
		if answered(&ws.p.At(e.Parent).Ops[seen.Thread], seen) {
			one.Answer, seen.Val = ws.words.Answers.Write(uint32(seen.Val)), 0
		}
		one.Seen = codec.Leaves(seen)
		w.Seen = append(w.Seen, one)
	}
	return w
}

// Replay replays on the code what History has written, and returns the history. After each observation it calls each
// with the history so far, and ends if that returns false.
func (ws Writing) Replay(w *WrittenHistory, each func(at uint32) bool) (at uint32, err error) {
	at, err = process.ReadRoot(ws.p, w.Root)
	for i := 0; err == nil && i < len(w.Seen); i++ {
		if at, err = ws.observe(at, &w.Seen[i]); err == nil && !each(at) {
			break
		}
	}
	return at, err
}

// observe returns the history that follows from another one by an observation.
func (ws Writing) observe(at uint32, w *WrittenSeen) (uint32, error) {
	seen, err := codec.FromLeaves[process.Observation](w.Seen)
	if err != nil {
		return 0, err
	}
	known := seen.Kind >= process.Started && seen.Kind <= process.ListRead && seen.Thread < MaxThreads
	if !known || ws.p.At(at).Ops[seen.Thread].Kind == process.None {
		return 0, errWritten
	}
	if w.Answer != nil {
		id, err := ws.words.Answers.Read(w.Answer)
		if err != nil {
			return 0, err
		}
		seen.Val = int64(id)
	}
	if answered(&ws.p.At(at).Ops[seen.Thread], seen) != (w.Answer != nil) {
		return 0, errWritten
	}
	return ws.p.Advance(at, seen)
}

// Does returns what the code came to by a history, and what it then waits for; and what it did at the last observation.
func (ws Writing) Does(at uint32) (state, did string) {
	e := ws.p.At(at)
	state = fmt.Sprint(e.State())
	for t := range e.Ops {
		o, asks := e.Ops[t], Texts(nil)
		if o.Kind.ToServer() || o.Kind == process.Watch {
			asks = ws.words.Of(&o).Write(o.Arg)
			o.Arg = 0 // a number of the tables
		}
		state += fmt.Sprint(t, codec.Leaves(o), asks)
	}
	did = fmt.Sprint(e.Fresh)
	for i := range e.Notes {
		n := &e.Notes[i]
		did += fmt.Sprint(n.Kind, n.OK, n.Claims, n.Token, n.Note, ";")
	}
	return state, did
}
