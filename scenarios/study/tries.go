package study

import (
	"context"
	"errors"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator/explore"
)

// AutoAttempts in place of a number of attempts: usualAttempts or, where that search is not
// complete at any timing, one; see Explore.
const AutoAttempts = -1

const usualAttempts = 2

// The limits of states of searches that are tried.
const (
	// AutoStates is for AutoTiming: the search of every timing.
	AutoStates = 3_000_000
	// OneAttemptStates is for AutoAttempts: the search of one attempt each.
	OneAttemptStates = 6_000_000
	// shortStates are for a second attempt that will not be complete.
	shortStates = 500_000

	// fewStates of one attempt promise a second one, which takes 5 to 20 times as many:
	// measured over all locks.
	fewStates = AutoStates / 8
	// fewToUse of one attempt promise one in which clients do what else the lock offers:
	// it takes 3 to 15 times as many, or very many.
	fewToUse = AutoUsesStates / 10
)

// A try is one search in place of bounds that leave something open.
type try struct {
	timing   Mode
	attempts int  // 0: as many as are asked for, or usualAttempts
	offered  bool // clients do what the lock offers besides; no search if it is said what they do
	states   int  // the limit
}

// What is tried. The first that is complete is the answer; the rest is in Search.Cut and Search.Beside, and the
// certificate has a line for each.
var (
	// Where the attempts are given: of the timings asked for, the most general first.
	inTurn = []try{
		{timing: AnyTiming, offered: true, states: AutoUsesStates},
		{timing: AnyTiming, states: AutoStates},
		{timing: Lockstep, offered: true, states: AutoUsesStates},
		{timing: Lockstep, states: AutoStates},
	}
	// With AutoAttempts this is first. Complete, it is the answer unless a more general one is.
	once = try{timing: AnyTiming, attempts: 1, states: OneAttemptStates}
	// After once with few states: more general ones.
	afterFew = []try{inTurn[0], inTurn[1], onceOffered}
	// After once with many: the second attempt may fail by fewer faults.
	afterMany = []try{{timing: AnyTiming, states: shortStates}}
	// After once that is not complete: one schedule, and beside it each fault alone.
	afterCut  = inTurn[2:]
	faultOnly = try{timing: AnyTiming, attempts: 1, states: AutoUsesStates}
	// Beside an answer of one attempt: the second one. Of a lock on several servers it is onceOffered on
	// few of them; of an answer of two attempts, onceOffered where it promises to be complete.
	besideOnce  = inTurn[2:]
	onceOffered = try{timing: AnyTiming, attempts: 1, offered: true, states: AutoUsesStates}
)

// open reports whether b leaves anything open that only searches can tell.
func (b Bounds) open() bool {
	return b.Timing == AutoTiming || b.Uses == AutoUses || b.Attempts == AutoAttempts
}

// of returns the bounds of a try in place of b; false: it would be no search of its own.
func (t try) of(b Bounds, entry lock.Entry) (Bounds, bool) {
	b = b.at(t.timing, entry).limited(t.states)
	if t.attempts > 0 {
		b.Attempts = t.attempts
	}
	switch {
	case t.offered && b.Uses != AutoUses:
		return b, false
	case t.offered:
		b.Uses = b.settledUses(entry)
		return b, b.Uses != 0
	case b.Uses == AutoUses:
		b.Uses = 0
	}
	return b, true
}

// each returns the bounds of tries in place of b.
func (b Bounds) each(entry lock.Entry, tries ...try) (list []Bounds) {
	for _, t := range tries {
		if of, ok := t.of(b, entry); ok {
			list = append(list, of)
		}
	}
	return list
}

// exploreOpen searches what is left open: one search after the other, until one is complete.
func exploreOpen(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	b, auto := b.WithUsualAttempts(), b.Attempts == AutoAttempts
	if timings := b.timings(); len(timings) == 1 {
		b = b.at(timings[0], entry)
	}
	if !auto || b.Checkpoint != "" || b.timings()[0] != AnyTiming {
		return exploreTries(ctx, entry, b.inTurn(entry), nil)
	}
	first, _ := once.of(b, entry)
	one, err := Explore(ctx, entry, first)
	if one == nil || err != nil {
		return one, err
	}
	if !one.Complete {
		s := one
		if b.Timing != AnyTiming {
			s, err = exploreTries(ctx, entry, unlimited(b, b.each(entry, afterCut...)), []*Search{one})
		}
		if err == nil {
			err = s.searchEach(ctx, entry, b.eachFault(entry))
		}
		return s, err
	}
	more := afterMany
	if one.States <= fewStates {
		more = afterFew
	}
	states := one.States
	s, cut, err := firstComplete(ctx, entry, b.each(entry, more...))
	if s != nil {
		one = s
	}
	beside := s == nil
	if err == nil {
		var tried []*Search
		s, tried, err = firstComplete(ctx, entry, b.beside(entry, one, states))
		cut, beside = append(cut, tried...), true
		if s != nil {
			one.Beside = []*Search{s}
		}
	}
	one.Cut = cut
	one.addOthers()
	if err != nil && beside {
		err = errors.Join(ErrBeside, err)
	}
	return one, err
}

// ErrBeside comes with a search beside which others are not finished.
var ErrBeside = errors.New("study: what was searched beside it is not finished")

// WithUsualAttempts is b with as many attempts as AutoAttempts tries at most.
func (b Bounds) WithUsualAttempts() Bounds {
	if b.Attempts == AutoAttempts {
		b.Attempts = usualAttempts
	}
	return b
}

// inTurn returns the searches that take the place of b, whose attempts are given. All but the last have
// limits, beyond which the next is tried.
func (b Bounds) inTurn(entry lock.Entry) (list []Bounds) {
	if b.Checkpoint != "" { // it keeps one search
		if b.Timing == AutoTiming {
			b.Timing = Lockstep
		}
		if b.Uses == AutoUses {
			b.Uses = 0
		}
		return []Bounds{b}
	}
	timings := b.timings()
	return unlimited(b, b.each(entry, slices.DeleteFunc(slices.Clone(inTurn), func(t try) bool { return !slices.Contains(timings, t.timing) })...))
}

// beside returns the searches of what an answer, at any timing, leaves out. states are those of one attempt.
func (b Bounds) beside(entry lock.Entry, of *Search, states int) []Bounds {
	few := FewServers(entry)
	switch {
	case of.Bounds.Attempts == usualAttempts && (of.Bounds.Uses != 0 || states > fewToUse):
		return nil
	case of.Bounds.Attempts == usualAttempts:
		return b.each(entry, onceOffered)
	case b.Settled(entry).Nodes > few:
		b.Nodes = few
		return b.each(entry, onceOffered)
	case b.Timing == AnyTiming:
		return nil
	}
	return b.each(entry, besideOnce...)
}

// eachFault returns the searches of each fault of the budget alone, on few servers.
func (b Bounds) eachFault(entry lock.Entry) (list []Bounds) {
	budget := b.Budget.Faults()
	if len(budget) < 2 {
		return nil
	}
	b, _ = faultOnly.of(b, entry)
	b.Nodes = min(b.Settled(entry).Nodes, FewServers(entry))
	for i := range budget {
		b.Budget = faults.BudgetOf(budget[i : i+1])
		if b.Check(entry) == nil {
			list = append(list, b)
		}
	}
	return list
}

// searchEach makes further searches beside s, all of them. One that says nothing about its fault
// is left out.
func (s *Search) searchEach(ctx context.Context, entry lock.Entry, list []Bounds) error {
	for _, b := range list {
		o, err := Explore(ctx, entry, b)
		switch {
		case o == nil || o.Inconclusive():
		case o.Complete:
			s.Beside = append(s.Beside, o)
		default:
			s.Cut = append(s.Cut, o)
		}
		if err != nil {
			s.addOthers()
			return errors.Join(ErrBeside, err)
		}
	}
	s.addOthers()
	return nil
}

// unlimited takes the limit of the last one away.
func unlimited(b Bounds, list []Bounds) []Bounds {
	last := &list[len(list)-1]
	last.MaxStates, last.Hopeful = b.MaxStates, 0
	if b.Timing == AutoTiming && b.MaxStates > AutoStates { // a limit that was not asked for
		last.Hopeful = AutoStates
	}
	return list
}

// limited is b with at most so many states, a quarter of which, or a half, shows whether there
// is hope: in a search that is complete within them, most states that it has reached by then
// are visited.
func (b Bounds) limited(states int) Bounds {
	b.Hopeful = states / 4
	if b.Clients > 2 { // whose layers are broader
		b.Hopeful = states / 2
	}
	if b.MaxStates == 0 || b.MaxStates > states {
		b.MaxStates = states
	}
	return b
}

// exploreTries searches one after the other until one is complete, or the last. cut was tried
// before.
func exploreTries(ctx context.Context, entry lock.Entry, tries []Bounds, cut []*Search) (*Search, error) {
	last := len(tries) - 1
	s, tried, err := firstComplete(ctx, entry, tries[:last])
	cut = append(cut, tried...)
	switch {
	case s != nil:
	case err == nil:
		s, err = Explore(ctx, entry, tries[last])
	case len(cut) > 0: // interrupted
		s, cut = cut[len(cut)-1], cut[:len(cut)-1]
	}
	if s != nil {
		s.Cut = cut
		s.addOthers()
	}
	return s, err
}

// firstComplete searches one after the other until one is complete, and returns that, or nil,
// and those that are not.
func firstComplete(ctx context.Context, entry lock.Entry, list []Bounds) (s *Search, cut []*Search, err error) {
	for _, b := range list {
		s, err := Explore(ctx, entry, b)
		if s != nil && s.Complete {
			return s, cut, err
		}
		if s != nil {
			cut = append(cut, s)
		}
		if err != nil {
			return nil, cut, err
		}
	}
	return nil, cut, nil
}

// addOthers adds what the searches have found that were made before s and beside it.
func (s *Search) addOthers() {
	for _, other := range slices.Concat(s.Cut, s.Beside) {
		s.addWitnesses(other)
	}
}

// addWitnesses adds to the witnesses what another search of the same lock has found and s has
// not, or not by as few faults, in place of what s has found. With Causes nothing is replaced.
// What s has found itself stays in Result.Found.
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
	order := explore.Words()
	slices.SortStableFunc(s.Witnesses, func(a, b Witness) int { return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict) })
}

func (s *Search) hasAsGood(w Witness) bool {
	return slices.ContainsFunc(s.Witnesses, func(own Witness) bool { return own.Verdict == w.Verdict && own.Par <= w.Par })
}
