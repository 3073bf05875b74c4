package simulator

import (
	"cmp"
	"fmt"
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// OrderError says that what the code of a client does depends on more of the numbers that it observes than their order.
type OrderError struct{ Was, Is string }

func (e *OrderError) Error() string {
	return fmt.Sprintf("simulator: the code does %s, and %s after other numbers in the same order", e.Was, e.Is)
}

// Recounted is the part of client c, from 1, which has observed other numbers in the place of those of an ensemble, of its tokens, and of
// its attempts. Where it rests the attempt that comes next is the first. That its code then does the same, but for numbers, is checked: the
// error is an *OrderError, or one of Step's.
func (sym *Symmetry) Recounted(part ClientPart, c int, f history.Recount) (ClientPart, error) {
	switch {
	case part.s.Dead:
		return part, nil
	case sym.s.memo.Asymmetric: // code of connections observes all numbers, and that of a session as well
		return part, &AsymmetricError{Session: true}
	}
	for t := range part.s.Threads {
		th := &part.s.Threads[t]
		if th.Phase == node.Answered && th.Reply != node.LostConn && sym.s.clients.op(int8(c), &part.s, t).Kind.ToServer() {
			th.Reply = sym.s.clients.words.Answers.Recounted(th.Reply, f)
		}
	}
	at, err := sym.recounted(part.s.At, sym.s.clients.procs[c-1], sym.s.clients.procs[c-1], f)
	if err == nil {
		part.s.At, err = sym.forget(c, at)
	}
	return part, err
}

// recounted finds the entry of process b that has observed what entry at of process a, which has the same program, has, with other numbers.
func (sym *Symmetry) recounted(at uint32, a, b *process.Process, f history.Recount) (uint32, error) {
	e, c := *a.At(at), history.Counter(a.Code().ID())
	if e.Parent == at {
		e.Tokens, e.Lease = uint64(f(history.Tokens+c, int64(e.Tokens), true)), uint8(f(history.Leases+c, int64(e.Lease), true))
		e.Memory, e.Entered = sym.s.clients.words.Memories.Recounted(e.Memory, f), false
		if o := &e.Ops[0]; o.Kind == process.Begin {
			o.Arg = min(o.Arg, 1)
		}
		return b.SameRoot(&e)
	}
	before, err := sym.recounted(e.Parent, a, b, f)
	if err != nil {
		return 0, err
	}
	parent := a.At(e.Parent)
	seen := e.Seen
	if answered(&parent.Ops[seen.Thread], seen) {
		seen.Val = int64(sym.s.clients.words.Answers.Recounted(uint32(seen.Val), f))
	}
	for drawn := parent.Tokens + 1; drawn <= e.Tokens; drawn++ {
		f(history.Tokens+c, int64(drawn), false)
	}
	if e.Lease != parent.Lease && e.Lease > 0 {
		f(history.Leases+c, int64(e.Lease), false)
	}
	for t := range e.Ops {
		if o := &e.Ops[t]; o.Lease > 0 {
			o.Lease = uint8(f(history.Leases+c, int64(o.Lease), false))
		}
	}
	to, err := b.Advance(before, seen)
	if err != nil {
		return 0, err
	}
	if is := b.At(to); !sym.sameActions(&e, is, f.Text, func(of node.Vocabulary, x, y uint32) bool { return of.Recounted(x, f) == y }) {
		return 0, cmp.Or[error](process.ByChance(a, at), &OrderError{a.Describe(&e), b.Describe(is)})
	}
	return to, nil
}

// MostOrdered bounds the histories in which Assumptions.Ordered is tried. The text prove.assumed.ordered has the numbers by which others are
// further.
const MostOrdered = 200

// CheckOrder checks Assumptions.Ordered in histories of the first client, evenly drawn if they are more than MostOrdered: where all numbers
// of a counter are further, or those from one of them on, its code does the same. It returns an *OrderError if it does not.
func (sym *Symmetry) CheckOrder() error {
	if !sym.s.assumed.Ordered {
		return nil
	}
	first, twin := sym.s.clients.procs[0], sym.s.newProcess(1, &sym.s.config.Clients[0])
	twin.KeepHistories(true)
	twin.Unfenced = first.Unfenced
	defer twin.Close()
	for _, at := range drawn(process.Longest(first), MostOrdered) {
		all, counters, far := history.NoNumbers(), history.NoNumbers(), false
		if _, err := sym.recounted(at, first, first, all.Note(&counters, &far)); err != nil {
			return err
		}
		for of, set := range all[:history.Leases] {
			for from := range int64(64) {
				if set>>from&1 == 0 || from > 0 && history.Counter(of) == history.Tokens+1 { // its own come one after the other
					continue
				}
				for _, by := range sym.s.memo.Further(12, 1_000_000_000) {
					if _, err := sym.recounted(at, first, twin, history.Further(history.Counter(of), from, int64(by))); err != nil {
						return err
					}
				}
			}
		}
	}
	return sym.s.room.Take()
}

// RecountedNode is a server's part with other numbers.
func (sym *Symmetry) RecountedNode(part NodePart, f history.Recount) NodePart {
	return NodePart{sym.s.sessions.Recounted(part.s, f)}
}

// RecountedRest is the rest with other numbers in the requests under way.
func (sym *Symmetry) RecountedRest(part RestPart, f history.Recount) RestPart {
	part.orphans = sym.s.changed(part.orphans, func(list []node.Orphan) []node.Orphan {
		for i := range list {
			o := &list[i].Op
			if o.Kind == process.Request {
				o.Arg = sym.s.clients.words.Requests.Recounted(o.Arg, f)
			}
			o.Lease = uint8(f(history.Leases+history.Counter(list[i].From), int64(o.Lease), false))
		}
		slices.SortFunc(list, compareOrphans)
		return list
	})
	return part
}
