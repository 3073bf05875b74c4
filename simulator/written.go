package simulator

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locklab/simulator/internal/codec"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Parts name what the tables of their simulator have. In texts they mean the same to every simulator of the same config: a
// process is the history of what its code has observed, and is replayed on the code.

// Writing writes parts in texts, and reads them.
type Writing struct{ s *Simulator }

// Writing returns what writes the simulator's parts.
func (s *Simulator) Writing() Writing { return Writing{s} }

// Texts are the fields of a plain value that are not zero, by their paths; see package codec.
type Texts = map[string]string

// A Written part, in texts.
type (
	WrittenClient struct {
		WrittenHistory
		State   Texts         `json:"state"`             // without the history
		Replies map[int]Texts `json:"replies,omitempty"` // on their way, by thread
	}
	WrittenHistory struct {
		Root Texts         `json:"root"` // as which its process began
		Seen []WrittenSeen `json:"seen"`
	}
	WrittenSeen struct {
		Seen   Texts `json:"seen"` // an Observation
		Answer Texts `json:"answer,omitempty"`
	}
	WrittenRest struct {
		Left    Texts   // the budget and the resource
		Orphans []Texts // requests: their fields, what they ask for (asks.), and the client (from: c1.)
	}
)

var errWritten = errors.New("simulator: a written part does not fit")

// left is a RestPart without requests.
type left struct {
	resource resourceState
	budget   [MaxFaults]uint8
}

// WriteClient writes the part of client c, from 1.
func (ws Writing) WriteClient(c int, part *ClientPart) (w WrittenClient) {
	w.WrittenHistory = ws.WriteHistory(c, part.s.At)
	state := part.s
	state.At = 0
	for t := range state.Threads {
		if th := &state.Threads[t]; ws.replied(c, part, t) {
			if w.Replies == nil {
				w.Replies = map[int]Texts{}
			}
			w.Replies[t], th.Reply = ws.s.clients.words.Answers.Write(th.Reply), 0
		}
	}
	w.State = codec.Leaves(state)
	return w
}

// replied reports whether a reply of a server is on its way to a thread of client c.
func (ws Writing) replied(c int, part *ClientPart, t int) bool {
	th := &part.s.Threads[t]
	return (th.Phase == node.Answered || th.Phase == node.Blocked) && th.Reply != node.LostConn && ws.s.clients.op(int8(c), &part.s, t).Kind.ToServer()
}

// ReadClient reads what WriteClient has written, and replays its history on the code.
func (ws Writing) ReadClient(c int, w *WrittenClient) (part ClientPart, err error) {
	if part.s, err = codec.FromLeaves[node.ClientProcess](w.State); err != nil {
		return part, err
	}
	at, err := ws.Replay(c, &w.WrittenHistory, func(uint32) bool { return true })
	if err != nil || part.s.At != 0 {
		return part, errors.Join(errWritten, err)
	}
	part.s.At = at
	for _, t := range slices.Sorted(maps.Keys(w.Replies)) {
		if t < 0 || t >= MaxThreads || part.s.Threads[t].Reply != 0 {
			return part, errWritten
		}
		if part.s.Threads[t].Reply, err = ws.s.clients.words.Answers.Read(w.Replies[t]); err != nil {
			return part, err
		}
	}
	return part, ws.s.Tables().CheckClient(c, &part)
}

// WriteHistory writes a history of client c.
func (ws Writing) WriteHistory(c int, at uint32) (w WrittenHistory) {
	root, way := process.History(ws.s.clients.procs[c-1], at)
	w.Root = root.Write()
	for _, at := range way[1:] {
		w.Seen = append(w.Seen, ws.WriteSeen(c, at))
	}
	return w
}

// Replay replays what WriteHistory has written on the code of client c, and returns the history. After each observation it calls each
// with the history so far, and ends if that returns false.
func (ws Writing) Replay(c int, w *WrittenHistory, each func(at uint32) bool) (at uint32, err error) {
	at, err = process.ReadRoot(ws.s.clients.procs[c-1], w.Root)
	for i := 0; err == nil && i < len(w.Seen); i++ {
		if at, err = ws.Observe(c, at, &w.Seen[i]); err == nil && !each(at) {
			break
		}
	}
	return at, err
}

// Longest are the histories of client c that no other one is known to go on from, and in which it has observed something.
func (ws Writing) Longest(c int) []uint32 { return process.Longest(ws.s.clients.procs[c-1]) }

// Again runs the code of client c once more in a history; see [process.Again].
func (ws Writing) Again(c int, at uint32) error { return process.Again(ws.s.clients.procs[c-1], at) }

// ByChance executes a history of client c again, whose code may go on by chance; see [process.ByChance].
func (ws Writing) ByChance(c int, at uint32) error {
	return process.ByChance(ws.s.clients.procs[c-1], at)
}

// ByBranch returns the error that the code of client c may go on in several ways at the end of a history; see [process.ByBranch].
func (ws Writing) ByBranch(c int, at uint32, is string) error {
	return process.ByBranch(ws.s.clients.procs[c-1], at, is)
}

// Describe says what the code of client c does at the end of a history, for an error message.
func (ws Writing) Describe(c int, at uint32) string {
	p := ws.s.clients.procs[c-1]
	return p.Describe(p.At(at))
}

// History returns the history of the part's client, and Histories those of client c on the way to it, itself last: each has one
// observation more than the one before.
func (p *ClientPart) History() uint32 { return p.s.At }

// Histories is described at History.
func (ws Writing) Histories(c int, at uint32) []uint32 {
	_, way := process.History(ws.s.clients.procs[c-1], at)
	return way
}

// Followers are the histories of client c that are known to follow from another one by what it observes in a move, each after
// the one before it.
func (ws Writing) Followers(c int, at uint32) [][2]uint32 {
	return process.Followers(ws.s.clients.procs[c-1], at)
}

// WithHistory is the part with another history of the same client.
func (p ClientPart) WithHistory(at uint32) ClientPart {
	p.s.At = at
	return p
}

// WriteSeen writes the last observation of a history of client c.
func (ws Writing) WriteSeen(c int, at uint32) (w WrittenSeen) {
	p := ws.s.clients.procs[c-1]
	e := p.At(at)
	seen := e.Seen
	if answered(&p.At(e.Parent).Ops[seen.Thread], seen) {
		w.Answer, seen.Val = ws.s.clients.words.Answers.Write(uint32(seen.Val)), 0
	}
	w.Seen = codec.Leaves(seen)
	return w
}

// Observe returns the history of client c that follows from another one by an observation.
func (ws Writing) Observe(c int, at uint32, w *WrittenSeen) (uint32, error) {
	seen, err := codec.FromLeaves[process.Observation](w.Seen)
	if err != nil {
		return 0, err
	}
	p := ws.s.clients.procs[c-1]
	if seen.Kind < process.Started || seen.Kind > process.ListRead || seen.Thread >= MaxThreads || p.At(at).Ops[seen.Thread].Kind == process.None {
		return 0, errWritten
	}
	if answers := answered(&p.At(at).Ops[seen.Thread], seen); answers != (w.Answer != nil) {
		return 0, errWritten
	} else if answers {
		id, err := ws.s.clients.words.Answers.Read(w.Answer)
		if err != nil {
			return 0, err
		}
		seen.Val = int64(id)
	}
	return p.Advance(at, seen)
}

// Does returns what the code of client c has come to by a history, and what it then waits for; and what it did at the
// last observation.
func (ws Writing) Does(c int, at uint32) (state, did string) {
	e := ws.s.clients.procs[c-1].At(at)
	state = fmt.Sprint(e.State())
	for t := range e.Ops {
		o := e.Ops[t]
		fields, asks := ws.writeOp(&o)
		state += fmt.Sprint(t, fields, asks)
	}
	did = fmt.Sprint(e.Fresh)
	for i := range e.Notes {
		n := &e.Notes[i]
		did += fmt.Sprint(n.Kind, n.OK, n.Claims, n.Token, n.Note, ";")
	}
	return state, did
}

// writeOp writes an operation, whose number of what it asks for it leaves out.
func (ws Writing) writeOp(o *process.Op) (fields, asks Texts) {
	if o.Kind.ToServer() || o.Kind == process.Watch {
		asks = ws.s.clients.words.Of(o).Write(o.Arg)
		o.Arg = 0
	}
	return codec.Leaves(*o), asks
}

// WriteNode writes the part of a server, and ReadNode reads it. The error is about servers of a kind that are not written.
func (ws Writing) WriteNode(part *NodePart) (Texts, error) {
	if k, ok := ws.s.kind.(node.Written); ok {
		return k.Write(part.s), nil
	}
	return nil, errWritten
}

// ReadNode reads what WriteNode has written.
func (ws Writing) ReadNode(w Texts) (part NodePart, err error) {
	if k, ok := ws.s.kind.(node.Written); ok {
		part.s, err = k.Read(w)
		return part, err
	}
	return part, errWritten
}

// WriteRest writes what belongs to no client and no server.
func (ws Writing) WriteRest(part *RestPart) WrittenRest {
	w := WrittenRest{Left: codec.Leaves(left{part.resource, part.budget})}
	for _, o := range *ws.s.orphans.At(part.orphans) {
		from := o.From
		o.From = 0
		_, asks := ws.writeOp(&o.Op)
		texts := codec.Leaves(o)
		texts["from"] = fmt.Sprintf("c%d.", from)
		for path, text := range asks {
			texts["asks."+path] = text
		}
		w.Orphans = append(w.Orphans, texts)
	}
	return w
}

// ReadRest reads what WriteRest has written, with the requests in any order.
func (ws Writing) ReadRest(w *WrittenRest) (part RestPart, err error) {
	l, err := codec.FromLeaves[left](w.Left)
	var list []node.Orphan
	for i := 0; err == nil && i < len(w.Orphans); i++ {
		var o node.Orphan
		o, err = ws.readOrphan(w.Orphans[i])
		list = append(list, o)
	}
	if err != nil || len(list) > ws.s.mostOrphans {
		return part, errors.Join(errWritten, err)
	}
	slices.SortFunc(list, compareOrphans)
	part = RestPart{ws.s.orphans.ID(list), l.resource, l.budget}
	return part, ws.s.Tables().CheckRest(&part)
}

func (ws Writing) readOrphan(w Texts) (o node.Orphan, err error) {
	fields, asks := Texts{}, Texts{}
	for path, text := range w {
		if what, ok := strings.CutPrefix(path, "asks."); ok {
			asks[what] = text
		} else if path != "from" {
			fields[path] = text
		}
	}
	if o, err = codec.FromLeaves[node.Orphan](fields); err != nil {
		return o, err
	}
	_, err = fmt.Sscanf(w["from"], "c%d.", &o.From)
	if err == nil && o.Op.Kind.ToServer() {
		o.Op.Arg, err = ws.s.clients.words.Of(&o.Op).Read(asks)
	}
	if err != nil || o.From < 1 || int(o.From) > len(ws.s.clients.procs) || !ws.s.Tables().hasOp(&o.Op) {
		return o, errors.Join(errWritten, err)
	}
	return o, nil
}
