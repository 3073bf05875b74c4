package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator/client"
	"locklab/simulator/i18n"
)

// AutoAttempts in place of a number of attempts: as written beside the lock, see lock.Search; else usualAttempts.
const AutoAttempts = -1

const usualAttempts = 2

const (
	// UsualStates are the limit of states of a search that says how much it does.
	UsualStates = 20_000_000
	// autoStates are, in place of UsualStates, that of one which leaves timing and attempts open: those of every lock
	// within the usual bounds have fewer, and it ends within a minute within others.
	autoStates = 8_000_000
)

// ErrBeside comes with a search beside which another one is not finished.
var ErrBeside = errors.New("search: what was searched beside it is not finished")

// open reports whether b leaves anything to what is written beside a lock.
func (b Bounds) open() bool {
	return b.Timing == AutoTiming || b.Uses == AutoUses || b.Attempts == AutoAttempts
}

// as is b with what it leaves open as w has it, which is written beside a lock. What is written for one timing says
// nothing about the other one: that is searched as usual.
func (b Bounds) as(w lock.Search, entry lock.Entry) Bounds {
	if !b.open() {
		return b
	}
	b = b.at(w, entry)
	if w.Lockstep != (b.Timing == Lockstep) {
		w = lock.Search{}
	}
	switch {
	case b.Attempts != AutoAttempts:
	case w.Once:
		b.Attempts = 1
	default:
		b.Attempts = usualAttempts
	}
	switch {
	case b.Uses != AutoUses:
	case w.NoUses:
		b.Uses = 0
	default:
		b.Uses = client.AllUses &^ client.GiveUp
		b.Uses = b.settledUses(entry)
	}
	if w.NoFaults {
		b.Budget = ""
	}
	b.Clients = max(b.Clients, w.Clients)
	if w.Few {
		b.Nodes = min(cmp.Or(b.Nodes, entry.Servers()), FewServers(entry))
	}
	return b
}

// exploreOpen searches what is left open as written beside the lock; where all is open, also by the second search.
func exploreOpen(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	all := b.Timing == AutoTiming && b.Attempts == AutoAttempts
	search := func(w lock.Search) (*Search, error) {
		b := b.as(w, entry)
		if all && b.MaxStates == UsualStates {
			b.MaxStates = cmp.Or(w.Most, autoStates)
		}
		return Explore(ctx, entry, b)
	}
	s, err := search(entry.Search)
	second := entry.Search.Beside
	if err != nil || second == nil || !all || b.Uses != AutoUses {
		return s, err
	}
	b.Boundary = false
	o, err := search(*second)
	if o != nil {
		s.Add(o)
	}
	if err != nil {
		err = errors.Join(ErrBeside, err)
	}
	return s, err
}

// CheckSearch says what is wrong with the bounds of a search of this lock, and what would be right.
func CheckSearch(entry lock.Entry, b Bounds) error {
	if err := checkAgain(b, entry); err != nil || b.Attempts == AnyAttempts {
		return err
	}
	if b.Recheck && b.Causes {
		return i18n.Errorf("error.recheck.all")
	}
	return b.as(entry.Search, entry).Check(entry)
}

// Add adds a search of the same lock that was made beside s, and what it has found.
func (s *Search) Add(o *Search) {
	if o.Complete {
		s.Beside = append(s.Beside, o)
	} else {
		s.Cut = append(s.Cut, o)
	}
	s.addWitnesses(o)
}

// addWitnesses adds to the witnesses what another search of the same lock has found and s has not, or not by as few
// faults, in place of what s has found. With Causes nothing is replaced. What s has found itself stays in Result.Found.
func (s *Search) addWitnesses(other *Search) {
	for _, w := range other.Witnesses {
		if s.hasAsGood(w) {
			continue
		}
		if !s.Bounds.Causes {
			s.Witnesses = slices.DeleteFunc(s.Witnesses, func(own Witness) bool { return own.Verdict == w.Verdict })
		}
		s.Witnesses = append(s.Witnesses, w)
	}
	order := s.Bounds.Words()
	slices.SortStableFunc(s.Witnesses, func(a, b Witness) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
}

func (s *Search) hasAsGood(w Witness) bool {
	asGood := func(own Witness) bool { return own.Verdict == w.Verdict && own.Par <= w.Par }
	return slices.ContainsFunc(s.Witnesses, asGood)
}
