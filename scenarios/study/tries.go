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

// How many states a search has that tries what was left open.
const (
	// AutoStates is for AutoTiming: the search of every timing.
	AutoStates = 3_000_000
	// OneAttemptStates is for AutoAttempts: the search of one attempt each.
	OneAttemptStates = 6_000_000
	// fewStates of one attempt leave hope for a second one, which takes 5 to 20 times as many:
	// measured over all locks.
	fewStates = AutoStates / 8
	// fewToUse of one attempt leave hope for one in which clients do what else the lock offers:
	// it takes 3 to 15 times as many, or very many.
	fewToUse = AutoUsesStates / 10
	// glanceStates are for a second attempt where there is no such hope.
	glanceStates = 500_000
)

// open says whether b leaves anything open that only searches can tell.
func (b Bounds) open() bool {
	return b.Timing == AutoTiming || b.Uses == AutoUses || b.Attempts == AutoAttempts
}

// exploreOpen searches what is left open: one search after the other, the most general first,
// until one is complete.
//
// With AutoAttempts the smallest comes first, of one attempt each at any timing. If it takes few
// states, more general ones may be complete as well. If it takes many it is the answer, with
// other searches beside it, for what it leaves out. If it takes too many, all that is left is
// Lockstep, with searches of one fault each beside it.
func exploreOpen(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	b, auto := b.WithUsualAttempts(), b.Attempts == AutoAttempts
	if timings := b.timings(); len(timings) == 1 {
		b = b.at(timings[0], entry)
	}
	if !auto || b.Checkpoint != "" || b.timings()[0] != AnyTiming {
		return exploreTries(ctx, entry, b.tries(entry), nil)
	}
	one, err := Explore(ctx, entry, b.once())
	if one == nil || err != nil {
		return one, err
	}
	if !one.Complete {
		s := one
		if b.Timing != AnyTiming {
			s, err = exploreTries(ctx, entry, unlimited(b, b.rungs(Lockstep, entry)), []*Search{one})
		}
		if err == nil {
			err = s.searchEach(ctx, entry, b.eachFault(entry))
		}
		return s, err
	}
	more := []Bounds{b.glance(entry)}
	if one.States <= fewStates {
		more = append(b.rungs(AnyTiming, entry), b.onceUsed(entry)...)
	}
	once := one.States
	s, cut, err := firstComplete(ctx, entry, more)
	if s != nil {
		one = s
	}
	beside := s == nil
	if err == nil {
		var tried []*Search
		s, tried, err = firstComplete(ctx, entry, b.beside(entry, one, once))
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

// once is the search of one attempt each, at any timing, of clients that do nothing else with
// the lock unless b says so.
func (b Bounds) once() Bounds {
	b.Timing, b.Attempts, b.Retries = AnyTiming, 1, AutoRetries
	if b.Uses == AutoUses {
		b.Uses = 0
	}
	return b.limited(OneAttemptStates)
}

// onceUsed is once of clients that do what the lock offers; none if b says what they do.
func (b Bounds) onceUsed(entry lock.Entry) (list []Bounds) {
	with := b.once().limited(AutoUsesStates)
	with.Uses = b.at(AnyTiming, entry).settledUses(entry)
	if b.Uses == AutoUses && with.Uses != 0 {
		list = append(list, with)
	}
	return list
}

// glance is the search of two attempts each, at any timing, where it will not be complete: they
// may fail by fewer faults.
func (b Bounds) glance(entry lock.Entry) Bounds {
	b = b.at(AnyTiming, entry).limited(glanceStates)
	if b.Uses == AutoUses {
		b.Uses = 0
	}
	return b
}

// beside are the searches of what another one, at any timing, leaves out. Of two attempts each
// that is what clients do with the lock besides: in one attempt. Of one it is the second attempt,
// in Lockstep; or, of a lock on several servers, what clients do with it besides, on few servers.
// once is how many states one attempt took.
func (b Bounds) beside(entry lock.Entry, of *Search, once int) []Bounds {
	few := FewServers(entry)
	switch {
	case of.Bounds.Attempts == usualAttempts && (of.Bounds.Uses != 0 || once > fewToUse):
		return nil
	case of.Bounds.Attempts == usualAttempts:
		return b.onceUsed(entry)
	case b.Settled(entry).Nodes > few:
		b.Nodes = few
		return b.onceUsed(entry)
	case b.Timing == AnyTiming:
		return nil
	}
	return b.rungs(Lockstep, entry)
}

// eachFault are the searches of one attempt each, at any timing, of each fault of the budget
// alone; on few servers.
func (b Bounds) eachFault(entry lock.Entry) (list []Bounds) {
	budget, _ := faults.ParseBudget(b.Budget) // Check has read it
	if len(budget) < 2 {
		return nil
	}
	b = b.once().limited(AutoUsesStates)
	b.Nodes = min(b.Settled(entry).Nodes, FewServers(entry))
	for i := range budget {
		b.Budget = faults.FormatBudget(budget[i : i+1])
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

// tries are the searches that take the place of b, which leaves its timing or its uses open:
// the most general first. All but the last have limits, beyond which the next is tried.
func (b Bounds) tries(entry lock.Entry) (list []Bounds) {
	if b.Checkpoint != "" { // it keeps one search
		if b.Timing == AutoTiming {
			b.Timing = Lockstep
		}
		if b.Uses == AutoUses {
			b.Uses = 0
		}
		return []Bounds{b}
	}
	for _, timing := range b.timings() {
		list = append(list, b.rungs(timing, entry)...)
	}
	return unlimited(b, list)
}

// unlimited takes the limit of the last one away.
func unlimited(b Bounds, list []Bounds) []Bounds {
	last := &list[len(list)-1]
	last.MaxStates, last.hopeful = b.MaxStates, 0
	if b.Timing == AutoTiming && b.MaxStates > AutoStates { // a limit that nobody thought of
		last.hopeful = AutoStates
	}
	return list
}

// rungs are the searches of one timing, the most general first, with limits.
func (b Bounds) rungs(timing Timing, entry lock.Entry) (list []Bounds) {
	b = b.at(timing, entry)
	if b.Uses == AutoUses {
		with := b.limited(AutoUsesStates)
		if with.Uses = b.settledUses(entry); with.Uses != 0 {
			list = append(list, with)
		}
		b.Uses = 0
	}
	return append(list, b.limited(AutoStates))
}

// limited is b with at most so many states, a quarter of which, or a half, shows whether there
// is hope: in a search that is complete within them, most states that it has reached by then
// are visited.
func (b Bounds) limited(states int) Bounds {
	b.hopeful = states / 4
	if b.Clients > 2 { // whose layers are broader
		b.hopeful = states / 2
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
	for _, own := range s.Witnesses {
		if own.Verdict == w.Verdict && own.Par <= w.Par {
			return true
		}
	}
	return false
}
