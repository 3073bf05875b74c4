package simulator

import (
	"fmt"
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// RestError says that code does something else in an attempt than it does in that attempt of a process of which nothing but the
// memory of its strategy is left: it keeps something elsewhere, as in a global variable, or looks at how often it has drawn a token.
type RestError struct{ Was, Is string }

func (e *RestError) Error() string {
	return fmt.Sprintf("simulator: after a rest the code does %s, and %s if its process is the same", e.Was, e.Is)
}

// MostTried bounds the histories that CheckRests tries, and MostFirst the first attempts after which it does.
const (
	MostTried = 500
	MostFirst = 250
)

// attempts try Assumptions.Rests: a process of the first client's code that never forgets follows histories of the first client in later
// attempts.
type attempts struct {
	*Symmetry
	first, twin *process.Process
	roots       []uint32 // by history of the first client, that without observations with which it begins
	after       []uint32 // histories of twin with some attempts, after which it rests
}

// drawn are some of a list, evenly drawn: all, if they are not more than most.
func drawn(list []uint32, most int) (some []uint32) {
	for i := range min(len(list), most) {
		some = append(some, list[i*len(list)/min(len(list), most)])
	}
	return some
}

// CheckRests checks Assumptions.Rests in histories of the first client, evenly drawn if they are more than MostTried: where a process
// rests and keeps nothing, its code does in the next attempt what it does in one before which nothing was observed. With
// Assumptions.Strangers that is the first attempt, with other tokens. It returns a *RestError if it does not. Code of a Host is not tried.
func (sym *Symmetry) CheckRests() error {
	if !sym.s.assumed.Rests || sym.s.config.Clients[0].Host != nil || sym.s.sessions != nil && !sym.s.assumed.Ordered {
		return nil
	}
	a := &attempts{Symmetry: sym, first: sym.s.clients.procs[0], twin: sym.s.newProcess(1, &sym.s.config.Clients[0])}
	a.twin.KeepHistories(true)
	a.twin.Unfenced = a.first.Unfenced
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
	case a.s.assumed.Strangers:
		return root.Tokens == 0
	case a.s.assumed.Ordered:
		return root.Tokens <= is.Tokens && root.Memory == is.Memory
	}
	return is.Tokens == root.Tokens && is.Ops[0] == root.Ops[0]
}

// follow has the twin, which rests, observe what the first client has observed in a history, with its own tokens, and do the same.
func (a *attempts) follow(from, at uint32) (uint32, error) {
	var way []uint32
	for ; at != a.roots[at]; at = a.first.At(at).Parent {
		way = append(way, at)
	}
	drawn := int(a.twin.At(from).Tokens) - int(a.first.At(at).Tokens)
	later := func(s string) string { return history.Later(s, 1, drawn) }
	for _, at := range slices.Backward(way) {
		was := *a.first.At(at)
		seen := was.Seen
		if drawn > 0 && answered(&a.first.At(was.Parent).Ops[seen.Thread], seen) {
			seen.Val = int64(a.s.clients.words.Answers.Replaced(uint32(seen.Val), later))
		}
		to, err := a.twin.Advance(from, seen)
		if err != nil {
			return 0, err
		}
		if is := *a.twin.At(to); !a.same(was, is, later) {
			return 0, &RestError{a.first.Describe(&was), a.twin.Describe(&is)}
		}
		from = to
	}
	return from, a.s.room.Take()
}

// same reports whether two entries ask for and record the same, with the tokens of another attempt.
func (a *attempts) same(was, is process.Entry, later func(string) string) bool {
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
	return a.sameActions(&was, &is, later, func(of node.Vocabulary, x, y uint32) bool { return of.Replaced(x, later) == y })
}
