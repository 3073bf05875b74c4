package simulator

import (
	"cmp"
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/intern"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// Where several clients run the same code, worlds that differ only in which of them is which have the same futures.
// Renaming turns one into the other. The clients' names stand in their tokens (see Client.Token), and with them in
// keys, in requests and in whatever a server may answer.

// Symmetry renames the clients of a simulator that run the same code.
type Symmetry struct {
	s *Simulator
	// renamed are the histories that were renamed, and followed is the number of entries of client 1
	// that the clients like it have as well; see representative.
	renamed  intern.Map[renamedHistory, uint32]
	followed int
}

// Symmetry returns the symmetry of the simulator's clients.
func (s *Simulator) Symmetry() *Symmetry { return &s.symmetry }

// forget returns the entry that represents entry at of client c: without what makes no difference later. The other
// symmetric clients get the history too, so that what is checked of it is checked of their code.
func (sym *Symmetry) forget(c int, at uint32) (uint32, error) {
	p := sym.s.clients.procs[c-1]
	to, err := p.Forget(at)
	if err != nil || c > sym.s.assumed.Symmetric {
		return to, err
	}
	if to != at {
		for _, other := range sym.s.clients.procs[:sym.s.assumed.Symmetric] {
			if other == p {
				continue
			}
			if _, err := sym.follow(at, p, other); err != nil {
				return to, err
			}
		}
	}
	if sym.s.assumed.Merging == hypothesis.NoMerging {
		return to, nil
	}
	return sym.representative(c, to)
}

// representative returns the history of client c that represents its entry at. The symmetric clients have the
// equivalence classes of client 1. So they follow it in every history, also in those that it has only compared.
func (sym *Symmetry) representative(c int, at uint32) (uint32, error) {
	p, first := sym.s.clients.procs[c-1], sym.s.clients.procs[0]
	to, err := at, error(nil)
	if c > 1 {
		if to, err = sym.follow(at, p, first); err != nil {
			return at, err
		}
		if to, err = first.Forget(to); err != nil {
			return at, err
		}
	}
	for ; sym.followed < first.Len(); sym.followed++ {
		for _, other := range sym.s.clients.procs[1:sym.s.assumed.Symmetric] {
			if _, err := sym.follow(uint32(sym.followed), first, other); err != nil {
				return at, err
			}
		}
	}
	if c > 1 {
		return sym.follow(to, first, p)
	}
	return to, nil
}

// represents returns what reports whether an entry of client c represents itself, see process.Represents: symmetric
// clients have the classes of client 1.
func (sym *Symmetry) represents(c int) func(at uint32) bool {
	first := sym.s.clients.procs[0]
	if c == 1 || c > sym.s.assumed.Symmetric {
		return func(at uint32) bool { return process.Represents(sym.s.clients.procs[c-1], at) }
	}
	others := map[uint32]bool{}
	for at := range uint32(first.Len()) {
		if to, ok := sym.renamed[renamedHistory{1, c, at}]; ok && !process.Represents(first, at) {
			others[to] = true
		}
	}
	return func(at uint32) bool { return !others[at] }
}

// Client is the part of client from (1-based) as if client to were in its place. Both must run the same code. The error
// is a *hypothesis.Refuted, or one of Step's.
func (sym *Symmetry) Client(part ClientPart, from, to int) (ClientPart, error) {
	if from == to && !sym.s.assumed.Peers || part.s.Dead && !sym.s.returns {
		return part, nil
	}
	if sym.s.memo.Asymmetric {
		return part, &hypothesis.Refuted{Of: hypothesis.Alike, Session: true}
	}
	names := history.Swap(uint8(from), uint8(to))
	if sym.s.assumed.Peers {
		names = sym.peers(from, to, peer(to))
	}
	if err := sym.replies(&part, from, translate.Rename(names)); err != nil || from == to {
		return part, err
	}
	at, err := sym.follow(part.s.At, sym.s.clients.procs[from-1], sym.s.clients.procs[to-1])
	if err != nil {
		return part, err
	}
	part.s.At, err = sym.forget(to, at)
	return part, err
}

// replies translates the answers that are on their way to the threads of client c.
func (sym *Symmetry) replies(part *ClientPart, c int, t *translate.Translation) (err error) {
	for i := range part.s.Threads {
		th := &part.s.Threads[i]
		onItsWay := (th.Phase == node.Answered || th.Phase == node.Blocked) && th.Reply != node.LostConn
		if onItsWay && err == nil && sym.s.clients.op(int8(c), &part.s, i).Kind.ToServer() {
			th.Reply, err = sym.answer(th.Reply, t)
		}
	}
	return err
}

// A renamedHistory is a history of one client as another one would have it; see follow.
type renamedHistory struct {
	from, to int // clients
	at       uint32
}

// follow finds the entry of process b that has observed what entry at of process a has, each with its own names. That
// both then do the same, but for their names, is checked: a token that is cut short or hashed bears no name that could
// be found in a server's data, and code may ask for its own number.
func (sym *Symmetry) follow(at uint32, a, b *process.Process) (uint32, error) {
	swap := translate.Rename(history.Swap(uint8(a.Code().ID()), uint8(b.Code().ID())))
	e := *a.At(at)
	if e.Parent == at {
		e.Memory = sym.remembered(e.Memory, swap)
		return b.SameRoot(&e)
	}
	return sym.renamed.Get(renamedHistory{a.Code().ID(), b.Code().ID(), at}, func() (uint32, error) {
		to, err := sym.follow(e.Parent, a, b)
		if err == nil {
			to, err = sym.observe(b, to, a, at, swap)
		}
		if err == nil && !sym.sameActions(&e, b.At(to), swap) {
			byChance := cmp.Or(process.ByChance(a, at), process.ByChance(b, to))
			err = cmp.Or(byChance, error(&hypothesis.Refuted{Of: hypothesis.Alike, Was: a.Describe(&e)}))
		}
		return to, err
	})
}

// observe has process b, at an entry, observe what process a has observed last in a history, in a translation.
func (sym *Symmetry) observe(
	b *process.Process, from uint32, a *process.Process, at uint32, t *translate.Translation,
) (uint32, error) {
	e := a.At(at)
	seen := e.Seen
	if answered(&a.At(e.Parent).Ops[seen.Thread], seen) {
		answer, err := sym.answer(uint32(seen.Val), t)
		if err != nil {
			return 0, err
		}
		seen.Val = int64(answer)
	}
	return b.Advance(from, seen)
}

// remembered returns what a library remembers, in a translation.
func (sym *Symmetry) remembered(memory uint32, t *translate.Translation) uint32 {
	if memories := sym.s.clients.words.Memories; memories != nil {
		return memories.Map(memory, t)
	}
	return memory
}

// answered reports whether the observation that ends an operation has an answer of a server.
func answered(o *process.Op, seen process.Observation) bool {
	switch seen.Kind {
	case process.Notified:
		return true
	case process.Replied:
		return o.Kind.ToServer()
	}
	return seen.Kind == process.TimedOut && o.Kind.ToServer() && seen.Val != 0
}

// sameActions reports whether what b asks for and records is what a does, in a translation.
func (sym *Symmetry) sameActions(a, b *process.Entry, by *translate.Translation) bool {
	if a.Fresh != b.Fresh || len(a.Notes) != len(b.Notes) {
		return false
	}
	for i := range a.Notes {
		x, y := &a.Notes[i], &b.Notes[i]
		if x.Kind != y.Kind || x.OK != y.OK || x.Claims != y.Claims || x.Token != y.Token || by.Text(x.Note) != y.Note {
			return false
		}
	}
	for t := range a.Ops {
		x, y := a.Ops[t], b.Ops[t]
		asks := x.Kind.ToServer() || x.Kind == process.Watch
		if asks && y.Kind == x.Kind && sym.s.clients.words.Of(&x).Same(x.Arg, y.Arg, by) {
			x.Arg = y.Arg
		}
		if x != y {
			return false
		}
	}
	return true
}

// peers renames client from to to, and all other symmetric clients to one.
func (sym *Symmetry) peers(from, to int, other uint8) *history.Names {
	names := history.Same()
	for c := 1; c <= sym.s.assumed.Symmetric; c++ {
		names[c] = other
	}
	names[from] = uint8(to)
	return &names
}

// peer is the client that an answer to client c names in place of any other.
func peer(c int) uint8 {
	if c == 1 {
		return 2
	}
	return 1
}

// CheckPeers checks hypothesis.Peers and Counted in every history of the first client: if the answer that it
// observes last names other clients, then the history belongs to the same class if it names any one in their place, or
// other attempts of its own process; and so if it has the number of a counter, and a higher one in its place.
func (sym *Symmetry) CheckPeers() error {
	first, answers, further := sym.s.clients.procs[0], sym.s.clients.words.Answers, sym.counted()
	for at := uint32(0); int(at) < first.Len(); at++ {
		e := *first.At(at)
		if e.Parent == at || !answered(&first.At(e.Parent).Ops[e.Seen.Thread], e.Seen) {
			continue
		}
		answer := uint32(e.Seen.Val)
		others := slices.Clone(further[answer])
		wrong := &hypothesis.Refuted{Of: hypothesis.Counted, Reply: answers.Words(answer)[0]}
		if sym.s.assumed.Peers && answers.Named(answer) != 0 {
			wrong.Of = hypothesis.Peers
			for other := 2; other <= sym.s.assumed.Symmetric; other++ {
				others = append(others, answers.Map(answer, translate.Rename(sym.peers(1, 1, uint8(other)))))
			}
			ofOne := func(s string) string { return history.OfOne(s, 1, 0) }
			others = append(others, answers.Map(answer, translate.Texts(ofOne)))
		}
		class, err := first.Forget(at)
		for i := 0; err == nil && i < len(others); i++ {
			seen, to, same := e.Seen, uint32(0), false
			seen.Val = int64(others[i])
			if to, err = first.Advance(e.Parent, seen); err == nil {
				same = e.SameActions(first.At(to)) // of classes that rest, only what follows is the same
				to, err = first.Forget(to)
			}
			if err == nil && (to != class || !same) {
				err = wrong
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counted are, by answer, those that a server gives in place of it where a counter has counted further.
func (sym *Symmetry) counted() map[uint32][]uint32 {
	further := map[uint32][]uint32{}
	if sym.s.memo.Counted != nil {
		for _, of := range sym.s.memo.Counted.Values {
			further[of[0]] = append(further[of[0]], of[1])
		}
	}
	return further
}

// answer is an answer in a translation. Where more than two are symmetric none may be renamed without hypothesis.Peers:
// the answers that one client has received about another would have to be renamed when two others are swapped.
func (sym *Symmetry) answer(answer uint32, t *translate.Translation) (uint32, error) {
	answers := sym.s.clients.words.Answers
	if t.Names != nil && answers.Named(answer) == 0 {
		return answer, nil
	}
	if t.Names != nil && sym.s.assumed.Symmetric > 2 && !sym.s.assumed.Peers {
		return answer, &hypothesis.Refuted{Of: hypothesis.Alike, Reply: answers.Words(answer)[0]}
	}
	return answers.Map(answer, t), sym.s.room.Take()
}

// Node is a server's part in a translation. The error is a *LimitError.
func (sym *Symmetry) Node(part NodePart, t *translate.Translation) (NodePart, error) {
	return NodePart{sym.s.kind.Map(part.s, t)}, sym.s.room.Take()
}

// Rest is the rest in a translation: the requests under way are. The error is a *LimitError.
func (sym *Symmetry) Rest(part RestPart, t *translate.Translation) (RestPart, error) {
	if part.orphans == 0 {
		return part, nil
	}
	part.orphans = sym.s.changed(part.orphans, func(list []node.Orphan) []node.Orphan {
		for i := range list {
			list[i] = sym.orphan(list[i], t)
		}
		slices.SortFunc(list, compareOrphans)
		return list
	})
	return part, sym.s.room.Take()
}

// orphan is an orphaned request in a translation.
func (sym *Symmetry) orphan(o node.Orphan, t *translate.Translation) node.Orphan {
	o.Op.Lease = uint8(t.Number(history.Leases+history.Counter(o.From), int64(o.Op.Lease), false))
	o.From = t.Client(o.From)
	if o.Op.Kind == process.Request {
		o.Op.Arg = sym.s.clients.words.Requests.Map(o.Op.Arg, t)
	}
	return o
}
