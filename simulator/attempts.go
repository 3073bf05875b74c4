package simulator

import (
	"cmp"
	"errors"
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/memo"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// MostTried bounds the histories that CheckRests tries, and MostFirst the first attempts after which it does.
const (
	MostTried = 500
	MostFirst = 250
)

// attempts try hypothesis.Rests: a twin of the first client that never forgets follows its histories in later attempts.
type attempts struct {
	*Symmetry
	first, twin *process.Process
	roots       []uint32 // by history of the first client, that without observations with which it begins
	after       []uint32 // histories of twin with some attempts, after which it rests
}

// twin is another process of a client, from 0, that never forgets.
func (sym *Symmetry) twin(i int) *process.Process {
	twin := sym.s.newProcess(i+1, &sym.s.config.Clients[i])
	twin.KeepHistories(true)
	twin.Unfenced = sym.s.clients.procs[i].Unfenced
	return twin
}

// drawn are some of a list, evenly drawn: all, if they are not more than most.
func drawn(list []uint32, most int) (some []uint32) {
	for i := range min(len(list), most) {
		some = append(some, list[i*len(list)/min(len(list), most)])
	}
	return some
}

// CheckRests checks hypothesis.Rests in histories of the first client, evenly drawn if they are more than MostTried:
// where a process rests and keeps nothing, its code does in the next attempt what it does in one before which nothing
// was observed. With hypothesis.Peers that is the first attempt, with other tokens. It returns a
// *hypothesis.Refuted if it does not. Code of a Host is not tried.
func (sym *Symmetry) CheckRests() error {
	if !sym.s.assumed.Rests || sym.s.config.Clients[0].Host != nil || sym.s.sessions != nil && !sym.s.assumed.Ordered {
		return nil
	}
	a := &attempts{Symmetry: sym, first: sym.s.clients.procs[0], twin: sym.twin(0)}
	defer a.twin.Close()
	var rests []uint32
	for at := range uint32(a.first.Len()) {
		e := a.first.At(at)
		if e.Parent == at {
			a.roots = append(a.roots, at)
			continue
		}
		a.roots = append(a.roots, a.roots[e.Parent])
		if e.Resting && e.Kept == process.NoMemory && e.Ops[0].Kind != process.None {
			rests = append(rests, at)
		}
	}
	if err := a.rest(rests); err != nil {
		return err
	}
	for i, at := range drawn(process.Longest(a.first), MostTried) {
		fit := slices.DeleteFunc(slices.Clone(a.after), func(from uint32) bool { return !a.fits(from, at) })
		if len(fit) == 0 {
			continue
		}
		if _, err := a.follow(fit[i%len(fit)], at); err != nil {
			return err
		}
	}
	return nil
}

// rest has the twin begin, and then make one, two and three attempts that end in a rest.
func (a *attempts) rest(rests []uint32) error {
	last := []uint32{0}
	for made := range 4 {
		var next []uint32
		each := 2
		switch {
		case made == 1: // only one of many first attempts may have kept something
			each = MostFirst / max(len(last), 1)
		case len(last) > 4:
			last = []uint32{last[0], last[len(last)/3], last[2*len(last)/3], last[len(last)-1]}
		}
		for i, from := range last {
			fit := slices.DeleteFunc(slices.Clone(rests), func(at uint32) bool { return !a.fits(from, at) })
			for n := range min(len(fit), each) {
				to, err := a.follow(from, fit[(i+n*len(fit)/min(len(fit), each))%len(fit)])
				if err != nil {
					return err
				}
				if a.twin.At(to).Ops[0].Kind != process.None { // else it was its last attempt
					next = append(next, to)
				}
			}
		}
		a.after, last = append(a.after, next...), next
	}
	return nil
}

// fits reports whether the twin, which rests, can follow a history of the first client.
func (a *attempts) fits(from, at uint32) bool {
	is, root := a.twin.At(from), a.first.At(a.roots[at])
	switch {
	case from == 0 || a.roots[at] == 0: // it has not begun
		return from == a.roots[at]
	case a.s.assumed.Peers:
		return root.Tokens == 0
	case a.s.assumed.Ordered:
		return root.Tokens <= is.Tokens && root.Memory == is.Memory
	}
	return is.Tokens == root.Tokens && is.Ops[0] == root.Ops[0]
}

// follow has the resting twin observe what the first client observed in a history, with own tokens, and do the same.
func (a *attempts) follow(from, at uint32) (uint32, error) {
	var way []uint32
	for ; at != a.roots[at]; at = a.first.At(at).Parent {
		way = append(way, at)
	}
	drawn := int(a.twin.At(from).Tokens) - int(a.first.At(at).Tokens)
	later := translate.Texts(func(s string) string { return history.Later(s, 1, drawn) })
	for _, at := range slices.Backward(way) {
		to, err := a.observe(a.twin, from, a.first, at, later)
		if err != nil {
			return 0, err
		}
		if was, is := *a.first.At(at), *a.twin.At(to); !a.same(was, is, later) {
			return 0, &hypothesis.Refuted{Of: hypothesis.Rests, Was: a.first.Describe(&was), Is: a.twin.Describe(&is)}
		}
		from = to
	}
	return from, a.s.room.Take()
}

// same reports whether two entries ask for and record the same, with the tokens of another attempt.
func (a *attempts) same(was, is process.Entry, later *translate.Translation) bool {
	forgets := was.Resting && was.Kept == process.NoMemory
	if was.Resting != is.Resting || forgets && is.Kept != was.Kept {
		return false
	}
	for t := range was.Ops { // of another attempt, at another stage
		x, y := &was.Ops[t], &is.Ops[t]
		if x.Lease > 0 && y.Lease > 0 {
			y.Lease = x.Lease
		}
		if x.Kind == process.Begin && y.Kind == process.Begin {
			y.Arg = x.Arg
		}
	}
	return a.sameActions(&was, &is, later)
}

// Recounted is the part of client c, from 1, which has observed other numbers in the place of those of an ensemble, of
// its tokens, and of its attempts. Where it rests the attempt that comes next is the first. That its code then does the
// same, but for numbers, is checked: the error is an *hypothesis.Refuted, or one of Step's.
func (sym *Symmetry) Recounted(part ClientPart, c int, f history.Recount) (ClientPart, error) {
	switch {
	case part.s.Dead:
		return part, nil
	case sym.s.memo.Asymmetric: // code of connections observes all numbers, and that of a session as well
		return part, &hypothesis.Refuted{Of: hypothesis.Alike, Session: true}
	}
	if err := sym.replies(&part, c, translate.Recount(f)); err != nil {
		return part, err
	}
	at, err := sym.recounted(part.s.At, sym.s.clients.procs[c-1], sym.s.clients.procs[c-1], f)
	if err == nil {
		part.s.At, err = sym.forget(c, at)
	}
	return part, err
}

// recounted finds the entry of process b that observed what entry at of a, of the same program, has, but for numbers.
func (sym *Symmetry) recounted(at uint32, a, b *process.Process, f history.Recount) (uint32, error) {
	e, c, t := *a.At(at), history.Counter(a.Code().ID()), translate.Recount(f)
	if e.Parent == at {
		e.Tokens = uint64(f(history.Tokens+c, int64(e.Tokens), true))
		e.Lease = uint8(f(history.Leases+c, int64(e.Lease), true))
		e.Entered, e.Memory = false, sym.remembered(e.Memory, t)
		if o := &e.Ops[0]; !sym.s.assumed.Ordered { // attempts are counted
			e.Born = uint64(f(history.Tokens+c, int64(e.Born), false))
		} else if o.Kind == process.Begin {
			o.Arg = min(o.Arg, 1)
		}
		return b.SameRoot(&e)
	}
	to, err := sym.recounted(e.Parent, a, b, f)
	if err != nil {
		return 0, err
	}
	parent := a.At(e.Parent)
	for drawn := parent.Tokens + 1; drawn <= e.Tokens; drawn++ {
		f(history.Tokens+c, int64(drawn), false)
	}
	if e.Lease != parent.Lease && e.Lease > 0 {
		f(history.Leases+c, int64(e.Lease), false)
	}
	for i := range e.Ops {
		if o := &e.Ops[i]; o.Lease > 0 {
			o.Lease = uint8(f(history.Leases+c, int64(o.Lease), false))
		}
	}
	if to, err = sym.observe(b, to, a, at, t); err != nil {
		return 0, err
	}
	if is := b.At(to); !sym.sameActions(&e, is, t) {
		refuted := &hypothesis.Refuted{Of: hypothesis.Ordered, Was: a.Describe(&e), Is: b.Describe(is)}
		return 0, cmp.Or[error](process.ByChance(a, at), refuted)
	}
	return to, nil
}

// MostOrdered bounds the histories in which hypothesis.Ordered is tried. prove.assumed.ordered says who is further.
const MostOrdered = 200

// CheckOrder checks hypothesis.Ordered in histories of the first client, evenly drawn if they are more than
// MostOrdered: where all numbers of a counter are further, or those from one of them on, its code does the same. It
// returns an *hypothesis.Refuted if it does not.
func (sym *Symmetry) CheckOrder() error {
	if !sym.s.assumed.Ordered {
		return nil
	}
	first, twin := sym.s.clients.procs[0], sym.twin(0)
	defer twin.Close()
	for _, at := range drawn(process.Longest(first), MostOrdered) {
		all, counters, far := history.NoNumbers(), history.NoNumbers(), false
		if _, err := sym.recounted(at, first, first, all.Note(&counters, &far)); err != nil {
			return err
		}
		for of, set := range all[:history.Leases] {
			counter := history.Counter(of)
			for from := range int64(64) {
				ownLater := from > 0 && counter == history.Tokens+1 // its own come one after the other
				if set>>from&1 == 0 || ownLater {
					continue
				}
				for _, by := range sym.s.memo.Further(12, 1_000_000_000) {
					further := history.Further(counter, from, int64(by))
					if _, err := sym.recounted(at, first, twin, further); err != nil {
						return err
					}
				}
			}
		}
	}
	return sym.s.room.Take()
}

// Histories and values by which TokenUse tries code. Half of the values are the smallest, as many others come in turn.
const mostNamed, valuesOf = 60, 8

// A TokenUse is what the code of clients does with its own tokens; NoTokens for code of a Host, which is not tried.
type TokenUse uint8

const (
	NoTokens         TokenUse = iota
	TokensCompared            // with others it did the same, as far as that was tried
	TokensLookedInto          // with others it does something else
)

// TokenUse tries the code of each client by tokens of the same form that are further, in histories evenly drawn.
// Clients that count as the first are it.
func (sym *Symmetry) TokenUse() (use TokenUse, err error) {
	for i, p := range sym.s.clients.procs {
		if i > 0 && i < sym.s.assumed.Symmetric || sym.s.config.Clients[i].Host != nil {
			continue
		}
		for at := range uint32(p.Len()) {
			if p.At(at).Tokens > 0 {
				use = TokensCompared
			}
		}
		if use == NoTokens || sym.s.memo.Asymmetric {
			continue
		}
		twin := sym.twin(i)
		defer twin.Close()
		remembers := func(at uint32) bool { // what may have tokens
			_, way := process.History(p, at)
			return p.At(way[0]).Kept != process.NoMemory
		}
		for _, at := range slices.DeleteFunc(drawn(process.Longest(p), mostNamed), remembers) {
			for _, by := range sym.s.memo.Further(valuesOf, memo.MostTokens) {
				_, err := sym.recounted(at, p, twin, history.Further(history.Tokens+history.Counter(i+1), 0, int64(by)))
				if order := (*hypothesis.Refuted)(nil); errors.As(err, &order) && order.Of == hypothesis.Ordered {
					return TokensLookedInto, nil
				} else if err != nil {
					return use, err
				}
			}
		}
	}
	return use, sym.s.room.Take()
}
