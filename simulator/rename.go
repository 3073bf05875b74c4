package simulator

import (
	"cmp"

	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Where several clients run the same code, worlds that differ only in which of
// them is which have the same futures. Renaming turns one into the other. The
// clients' names stand in their tokens (see Client.Token), and with them in
// keys, in requests and in whatever a server may answer.

// Names says how clients are to be called: client c becomes Names[c]. Names[0] is
// not used.
type Names = node.Names

// AsymmetricError says that clients cannot change places.
type AsymmetricError = node.AsymmetricError

// Alike has checked from now on that so many clients, from the first, are interchangeable
// to servers, and in the step after which one of them forgets what it has observed: later
// RenameClient cannot see it any more. Where they are not, Step returns an
// *AsymmetricError. Below 2 nothing is checked.
func (s *Simulator) Alike(clients int) {
	s.alike = clients
	s.memo.Alike = uint8(clients)
}

// forget is the entry at which client c stands when it forgets what it need not remember at
// entry at. The others learn of that history as well: what is checked of it is checked of
// their code.
func (s *Simulator) forget(c int, at uint32) (uint32, error) {
	p := s.procs[c-1]
	to, err := p.Forget(at)
	if err != nil || c > s.alike {
		return to, err
	}
	if to != at {
		for _, other := range s.procs[:s.alike] {
			if other == p {
				continue
			}
			if _, err := s.follow(at, p, other); err != nil {
				return to, err
			}
		}
	}
	if s.merging == process.NoMerging {
		return to, nil
	}
	return s.standsFor(c, to)
}

// standsFor is the history of client c that stands for its entry at: what client 1 takes for
// one all that are like it do. So they follow it in every history, also in those that it has
// only compared.
func (s *Simulator) standsFor(c int, at uint32) (uint32, error) {
	p, first := s.procs[c-1], s.procs[0]
	to, err := at, error(nil)
	if c > 1 {
		if to, err = s.follow(at, p, first); err != nil {
			return at, err
		}
		if to, err = first.Forget(to); err != nil {
			return at, err
		}
	}
	for ; s.followed < first.Len(); s.followed++ {
		for _, other := range s.procs[1:s.alike] {
			if _, err := s.follow(uint32(s.followed), first, other); err != nil {
				return at, err
			}
		}
	}
	if c > 1 {
		return s.follow(to, first, p)
	}
	return to, nil
}

// RenameClient is the part of client from (1-based) as if client to were in its
// place. Both must run the same code. The error is an *AsymmetricError, or one
// of Step's.
func (s *Simulator) RenameClient(part ClientPart, from, to int) (ClientPart, error) {
	if from == to || part.s.Dead && !s.returns {
		return part, nil
	}
	if s.memo.Asymmetric {
		return part, &AsymmetricError{Session: true}
	}
	for t := range part.s.Threads {
		th := &part.s.Threads[t]
		if (th.Phase == node.Answered || th.Phase == node.Blocked) && th.Reply != node.LostConn && s.partOp(from, &part, t).Kind.ToServer() {
			reply, err := s.renameAnswer(th.Reply, node.Swap(uint8(from), uint8(to)))
			if err != nil {
				return part, err
			}
			th.Reply = reply
		}
	}
	at, err := s.follow(part.s.At, s.procs[from-1], s.procs[to-1])
	if err != nil {
		return part, err
	}
	part.s.At, err = s.forget(to, at)
	return part, err
}

// A renamedHistory is a history of one client as another one would have it; see
// follow.
type renamedHistory struct {
	from, to int // clients
	at       uint32
}

// follow finds the entry of process b that has observed what entry at of process a
// has, each with its own names. That both then do the same, but for their names, is checked:
// a token that is cut short or hashed bears no name that could be found in a server's data,
// and code may ask for its own number.
func (s *Simulator) follow(at uint32, a, b *process.Process) (uint32, error) {
	swap := node.Swap(uint8(a.ID()), uint8(b.ID()))
	if e := *a.At(at); e.Parent == at {
		if s.words.Memories != nil {
			var err error
			if e.Memory, err = s.words.Memories.Renamed(e.Memory, swap); err != nil {
				return 0, err
			}
		}
		return b.SameRoot(&e)
	}
	key := renamedHistory{a.ID(), b.ID(), at}
	if to, ok := s.renamed[key]; ok {
		return to, nil
	}
	e := *a.At(at)
	before, err := s.follow(e.Parent, a, b)
	if err != nil {
		return 0, err
	}
	seen := e.Seen
	if answered(&a.At(e.Parent).Ops[seen.Thread], seen) {
		answer, err := s.renameAnswer(uint32(seen.Val), swap)
		if err != nil {
			return 0, err
		}
		seen.Val = int64(answer)
	}
	to, err := b.Advance(before, seen)
	if err != nil {
		return 0, err
	}
	if !s.sameDeeds(&e, b.At(to), swap) {
		return 0, &AsymmetricError{Does: a.Describe(&e)}
	}
	s.renamed[key] = to
	return to, nil
}

// answered says whether the observation that ends an operation has an answer of a server.
func answered(o *process.Op, seen process.Observation) bool {
	switch seen.Kind {
	case process.Notified:
		return true
	case process.Replied:
		return o.Kind.ToServer()
	}
	return seen.Kind == process.TimedOut && o.Kind.ToServer() && seen.Val != 0
}

// sameDeeds says whether two entries ask for and record the same, but for names.
func (s *Simulator) sameDeeds(a, b *process.Entry, names *Names) bool {
	if a.Fresh != b.Fresh || len(a.Notes) != len(b.Notes) {
		return false
	}
	for i := range a.Notes {
		x, y := &a.Notes[i], &b.Notes[i]
		if x.Kind != y.Kind || x.OK != y.OK || x.Claims != y.Claims || x.Token != y.Token || names.Rename(x.Note) != y.Note {
			return false
		}
	}
	for t := range a.Ops {
		x, y := a.Ops[t], b.Ops[t]
		if (x.Kind.ToServer() || x.Kind == process.Watch) && y.Kind == x.Kind && s.words.Of(&x).Same(x.Arg, y.Arg, names) {
			x.Arg = y.Arg
		}
		if x != y {
			return false
		}
	}
	return true
}

// renameAnswer is an answer with the names of two clients swapped. Where more than two are
// alike none may be named: what a client has heard of another one would have to be renamed when
// two others change places.
func (s *Simulator) renameAnswer(answer uint32, swap *Names) (uint32, error) {
	switch answers := s.words.Answers; {
	case !answers.Named(answer):
		return answer, nil
	case s.alike > 2:
		return answer, &AsymmetricError{Reply: answers.Words(answer)[0]}
	default:
		renamed, err := answers.Renamed(answer, swap)
		return renamed, cmp.Or(err, s.room.Take())
	}
}

// RenameNode is a server's part with the clients renamed in its data. The error is a
// *LimitError.
func (s *Simulator) RenameNode(part NodePart, to *Names) (NodePart, error) {
	return NodePart{s.kind.Rename(part.s, to)}, s.room.Take()
}
