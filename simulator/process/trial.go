package process

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// A trial is a history in which the code runs once more: as it was, or at another time of day.
type trial struct {
	at uint32
	by clock.Shift
}

// A Rereader is a Library that changes nothing which several processes use while their code does what another process has done before.
type Rereader interface{ Rereads() }

// Twins make trials beside a process, each in a goroutine of its own. They are processes with the same program.
type Twins struct {
	List []*Process
	// ReadOnly has the tables of servers only read from now on, by processes in several goroutines, or no longer.
	ReadOnly func(on bool)
}

// tryAll has a process make trials, with twins if there are any. These only find those in which the code does the same; the process makes all
// others, in their order. So the error is the same on any number of cores.
func tryAll(p *Process, trials []trial, twins Twins) error {
	same, all := make([]bool, len(trials)), true
	if len(twins.List) > 0 && len(trials) > 1 {
		all = tryBeside(p, trials, same, twins)
	}
	for i, t := range trials {
		if same[i] {
			if t.by == (clock.Shift{}) {
				p.checked.noteRepeated(p, t.at)
			}
			continue
		}
		if err := t.in(p); err != nil {
			return err
		}
	}
	if !all {
		return &NondeterministicError{Client: p.code.id, Was: "what it has done in a history", Is: "something else in one of two further executions"}
	}
	return nil
}

// tryBeside notes those trials in which the code does the same, and reports whether it does in all of them. It ends with the first one in which
// it does not.
func tryBeside(p *Process, trials []trial, same []bool, twins Twins) bool {
	var next atomic.Int64
	var differs atomic.Bool
	work := func(by *Process) {
		for i := int(next.Add(1)) - 1; i < len(trials) && !differs.Load(); i = int(next.Add(1)) - 1 {
			var known bool
			if same[i], known = trials[i].beside(by); known && !same[i] {
				differs.Store(true)
			}
		}
	}
	twins.ReadOnly(true)
	var all sync.WaitGroup
	for _, twin := range twins.List {
		twin.entries, twin.edges, twin.Branches, twin.Unfenced = p.entries, p.edges, p.Branches, p.Unfenced
		all.Go(func() {
			work(twin)
			twin.stopAll()
			twin.entries, twin.edges, twin.checked = nil, nil, checked{}
		})
	}
	work(p)
	all.Wait()
	twins.ReadOnly(false)
	return !differs.Load()
}

// beside reports whether the code does the same in the trial, if that is known: not if an answer with a time stamp is new.
func (t trial) beside(p *Process) (same, known bool) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case table.ErrReadOnly:
			same, known = false, false
		default:
			panic(r)
		}
	}()
	return t.in(p) == nil, true
}

// in has a process make the trial. Where the code does something else the error is a *NondeterministicError, or at another time of day a
// *TimeOfDayError.
func (t trial) in(p *Process) error {
	if t.by == (clock.Shift{}) {
		return Again(p, t.at)
	}
	did, err := p.rerunLater(t.at, t.by)
	p.stop()
	other, e := (*NondeterministicError)(nil), &p.entries[t.at]
	did.inherit(&p.entries[e.Parent])
	later := func(was, is string) error {
		return &TimeOfDayError{p.code.id, t.by.By - t.by.Older, t.by.Older > 0, was, is}
	}
	switch {
	case errors.As(err, &other):
		return cmp.Or(ByChance(p, t.at), later(other.Was, other.Is))
	case err != nil:
		return err
	case !did.sameOutcome(e):
		return later(p.Describe(e), p.Describe(&did))
	}
	return nil
}
