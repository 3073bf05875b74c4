package simulator

import (
	"errors"
	"fmt"

	"locklab/simulator/internal/codec"
	"locklab/simulator/process"
)

// A history names what the tables of its simulator have. In texts it means the same to every simulator of the same
// config, which replays it on the code.

// Writing writes histories of clients in texts, and reads them.
type Writing struct{ s *Simulator }

// Writing returns what writes the histories of the simulator's clients.
func (s *Simulator) Writing() Writing { return Writing{s} }

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

// WriteHistory writes a history of client c.
func (ws Writing) WriteHistory(c int, at uint32) (w WrittenHistory) {
	root, way := process.History(ws.s.clients.procs[c-1], at)
	w.Root = root.Write()
	for _, at := range way[1:] {
		w.Seen = append(w.Seen, ws.writeSeen(c, at))
	}
	return w
}

// Replay replays what WriteHistory has written on the code of client c, and returns the history. After each observation
// it calls each with the history so far, and ends if that returns false.
func (ws Writing) Replay(c int, w *WrittenHistory, each func(at uint32) bool) (at uint32, err error) {
	at, err = process.ReadRoot(ws.s.clients.procs[c-1], w.Root)
	for i := 0; err == nil && i < len(w.Seen); i++ {
		if at, err = ws.observe(c, at, &w.Seen[i]); err == nil && !each(at) {
			break
		}
	}
	return at, err
}

// Longest are the histories of client c that no other one is known to go on from, and in which it has observed
// something.
func (ws Writing) Longest(c int) []uint32 { return process.Longest(ws.s.clients.procs[c-1]) }

// Again runs the code of client c once more in a history; see [process.Again].
func (ws Writing) Again(c int, at uint32) error { return process.Again(ws.s.clients.procs[c-1], at) }

// ByChance executes a history of client c again, whose code may go on by chance; see [process.ByChance].
func (ws Writing) ByChance(c int, at uint32) error {
	return process.ByChance(ws.s.clients.procs[c-1], at)
}

// ByBranch returns the error that the code of client c may go on in several ways at the end of a history; see
// [process.ByBranch].
func (ws Writing) ByBranch(c int, at uint32, is string) error {
	return process.ByBranch(ws.s.clients.procs[c-1], at, is)
}

// Describe says what the code of client c does at the end of a history, for an error message.
func (ws Writing) Describe(c int, at uint32) string {
	p := ws.s.clients.procs[c-1]
	return p.Describe(p.At(at))
}

// Histories are those of client c on the way to a history, itself last: each has one observation more than the one
// before.
func (ws Writing) Histories(c int, at uint32) []uint32 {
	_, way := process.History(ws.s.clients.procs[c-1], at)
	return way
}

// writeSeen writes the last observation of a history of client c.
func (ws Writing) writeSeen(c int, at uint32) (w WrittenSeen) {
	p := ws.s.clients.procs[c-1]
	e := p.At(at)
	seen := e.Seen
	if answered(&p.At(e.Parent).Ops[seen.Thread], seen) {
		w.Answer, seen.Val = ws.s.clients.words.Answers.Write(uint32(seen.Val)), 0
	}
	w.Seen = codec.Leaves(seen)
	return w
}

// observe returns the history of client c that follows from another one by an observation.
func (ws Writing) observe(c int, at uint32, w *WrittenSeen) (uint32, error) {
	seen, err := codec.FromLeaves[process.Observation](w.Seen)
	if err != nil {
		return 0, err
	}
	p := ws.s.clients.procs[c-1]
	if seen.Kind < process.Started || seen.Kind > process.ListRead || seen.Thread >= MaxThreads || p.At(at).Ops[seen.Thread].Kind == process.None {
		return 0, errWritten
	}
	if w.Answer != nil {
		id, err := ws.s.clients.words.Answers.Read(w.Answer)
		if err != nil {
			return 0, err
		}
		seen.Val = int64(id)
	}
	if answered(&p.At(at).Ops[seen.Thread], seen) != (w.Answer != nil) {
		return 0, errWritten
	}
	return p.Advance(at, seen)
}

// Does returns what the code of client c has come to by a history, and what it then waits for; and what it did at the
// last observation.
func (ws Writing) Does(c int, at uint32) (state, did string) {
	e := ws.s.clients.procs[c-1].At(at)
	state = fmt.Sprint(e.State())
	for t := range e.Ops {
		o, asks := e.Ops[t], Texts(nil)
		if o.Kind.ToServer() || o.Kind == process.Watch {
			asks = ws.s.clients.words.Of(&o).Write(o.Arg)
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
