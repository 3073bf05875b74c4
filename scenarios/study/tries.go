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
	// UsualStates are the limit of a search that says how much it does. One that leaves timing and attempts open ends at AutoStates in
	// its place: it takes ten seconds, and has other searches beside it.
	UsualStates = 20_000_000
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
	as       role
	when     func(*tried) bool // nil: always
	timing   Mode              // not tried if bounds ask for another
	attempts int               // 0: as many as are asked for, or usualAttempts
	offered  bool              // clients do what the lock offers besides; not tried if it is said what they do
	few      bool              // on FewServers
	alone    bool              // a search for each fault of the budget, if there are several
	states   int               // the limit; of the last answer with all attempts it is that of the bounds
}

// A role is what a search is made for. In each the first that is complete ends it; but each fault alone is searched.
type role int

const (
	answer role = iota // it is what was asked for, as far as that can be searched; the last one, if none is complete
	wider              // more general than the answer, whose place it takes
	beside             // what the answer leaves out; see Search.Beside
	roles
)

// tries are made in this order; on idle cores some begin before their turn, see ahead. The certificate has a line for each that
// was made; those that are not complete are in Search.Cut.
var tries = []try{
	// One attempt tells soon how large the rest is.
	{as: answer, when: (*tried).auto, timing: AnyTiming, attempts: 1, states: OneAttemptStates},
	// The most general timing that can be searched.
	{as: answer, when: (*tried).given, timing: AnyTiming, offered: true, states: AutoUsesStates},
	{as: answer, when: (*tried).given, timing: AnyTiming, states: AutoStates},
	{as: answer, timing: Lockstep, offered: true, states: AutoUsesStates},
	{as: answer, timing: Lockstep, states: AutoStates},
	// Few states of one attempt promise more attempts, or more uses.
	{as: wider, when: (*tried).isSmall, timing: AnyTiming, offered: true, states: AutoUsesStates},
	{as: wider, when: (*tried).isSmall, timing: AnyTiming, states: AutoStates},
	{as: wider, when: (*tried).isSmall, timing: AnyTiming, attempts: 1, offered: true, states: AutoUsesStates},
	// After many of them the second attempt may still fail by fewer faults.
	{as: wider, when: (*tried).isLarge, timing: AnyTiming, states: shortStates},
	// In place of an answer that is not complete: each fault alone.
	{as: beside, when: (*tried).isCut, timing: AnyTiming, attempts: 1, few: true, alone: true, states: AutoUsesStates},
	// Beside two attempts, the uses; beside one attempt of a lock on many servers, the uses on few of them; beside
	// one of another lock, the second attempt in one schedule.
	{as: beside, when: (*tried).lacksUses, timing: AnyTiming, attempts: 1, offered: true, states: AutoUsesStates},
	{as: beside, when: (*tried).onMany, timing: AnyTiming, attempts: 1, offered: true, few: true, states: AutoUsesStates},
	{as: beside, when: (*tried).lacksAttempts, timing: Lockstep, offered: true, states: AutoUsesStates},
	{as: beside, when: (*tried).lacksAttempts, timing: Lockstep, states: AutoStates},
}

// tried are the searches that were made in place of bounds.
type tried struct {
	entry       lock.Entry
	bounds      Bounds // what is asked for, of which no more is open than timing, uses and attempts
	asked       int    // attempts, or AutoAttempts
	once        *Search
	answer      *Search
	cut, beside []*Search
	complete    [roles]bool
}

// given reports whether the attempts are given, or not the first to be tried.
func (r *tried) given() bool { return r.asked != AutoAttempts || r.bounds.timings()[0] != AnyTiming }
func (r *tried) auto() bool  { return !r.given() }

func (r *tried) isCut() bool   { return r.once != nil && !r.once.Complete }
func (r *tried) isSmall() bool { return r.once != nil && r.once.Complete && r.once.States <= fewStates }
func (r *tried) isLarge() bool { return r.once != nil && r.once.Complete && r.once.States > fewStates }

// hasOnce reports whether the answer is one attempt of each client.
func (r *tried) hasOnce() bool {
	return r.once != nil && r.once.Complete && r.answer.Bounds.Attempts != usualAttempts
}

func (r *tried) lacksUses() bool {
	return r.once != nil && r.once.Complete && !r.hasOnce() && r.answer.Bounds.Uses == 0 && r.once.States <= fewToUse
}
func (r *tried) onMany() bool {
	return r.hasOnce() && r.bounds.Settled(r.entry).Nodes > FewServers(r.entry)
}
func (r *tried) lacksAttempts() bool { return r.hasOnce() && !r.onMany() }

// open reports whether b leaves anything open that only searches can tell.
func (b Bounds) open() bool {
	return b.Timing == AutoTiming || b.Uses == AutoUses || b.Attempts == AutoAttempts
}

// exploreOpen searches what is left open, by the tries.
func exploreOpen(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	r := &tried{entry: entry, asked: b.Attempts, bounds: b.WithUsualAttempts()}
	if timings := r.bounds.timings(); len(timings) == 1 {
		r.bounds = r.bounds.at(timings[0], entry)
	}
	a := &ahead{ctx: ctx, entry: entry, begun: map[string]*early{}}
	defer a.end()
	for i, t := range tries {
		list := r.list(i)
		for n, b := range list {
			now := *r // which does not change meanwhile
			s, err := a.search(b, func(begun map[string]*early) []Bounds {
				return now.certain(i, b, list[n+1:], begun)
			})
			r.add(t, s)
			if err != nil && t.as != answer {
				err = errors.Join(ErrBeside, err)
			}
			if err != nil {
				return r.result(), err
			}
		}
	}
	return r.result(), nil
}

// list returns the bounds of the searches of try i; none: it is not made.
func (r *tried) list(i int) []Bounds {
	t := tries[i]
	if r.complete[t.as] {
		return nil
	}
	list := r.bounded(t)
	if t.as == answer && t.attempts == 0 && !r.follows(i) {
		for n := range list {
			list[n] = list[n].unlimited(r.bounds)
			if r.auto() && list[n].MaxStates == UsualStates {
				list[n].MaxStates = AutoStates
			}
		}
	}
	return list
}

// certain lists the searches that follow one of try i, after the rest of that try, whether it comes to an end or is cut short: none follow
// the first attempt for sure. Those before them that have not ended are expected to be cut short.
func (r *tried) certain(i int, b Bounds, rest []Bounds, begun map[string]*early) []Bounds {
	if r.once == nil && r.auto() {
		return nil // how many states it has decides
	}
	var lists [2][]Bounds
	for k, complete := range []bool{true, false} {
		then := *r
		then.cut, then.beside = nil, nil // not the same lists
		then.add(tries[i], &Search{Strategy: r.entry, Bounds: b, Result: &explore.Result{Complete: complete}})
		lists[k] = slices.Clone(rest)
		for next := i + 1; next < len(tries); next++ {
			for _, b := range then.list(next) {
				s := &Search{Strategy: r.entry, Bounds: b, Result: &explore.Result{}}
				if e := begun[keyOf(b)]; e != nil && e.s != nil {
					s = e.s
				}
				lists[k] = append(lists[k], b)
				then.add(tries[next], s)
			}
		}
	}
	return slices.DeleteFunc(lists[0], func(b Bounds) bool {
		return !slices.ContainsFunc(lists[1], func(other Bounds) bool { return keyOf(b) == keyOf(other) })
	})
}

// bounded returns the bounds of the searches of a try within its limit.
func (r *tried) bounded(t try) (list []Bounds) {
	if t.when != nil && !t.when(r) || !slices.Contains(r.bounds.timings(), t.timing) {
		return nil
	}
	b := r.bounds.at(t.timing, r.entry).limited(t.states)
	if t.attempts > 0 {
		b.Attempts = t.attempts
	}
	if t.few {
		b.Nodes = min(b.Settled(r.entry).Nodes, FewServers(r.entry))
	}
	switch {
	case t.offered && b.Uses != AutoUses:
		return nil
	case t.offered:
		if b.Uses = b.settledUses(r.entry); b.Uses == 0 {
			return nil // what the other searches do
		}
	case b.Uses == AutoUses:
		b.Uses = 0
	}
	if !t.alone {
		return []Bounds{b}
	}
	budget := b.Budget.Faults()
	for i := range budget {
		b.Budget = faults.BudgetOf(budget[i : i+1])
		if len(budget) > 1 && b.Check(r.entry) == nil {
			list = append(list, b)
		}
	}
	return list
}

// follows reports whether another search for the answer can follow a try.
func (r *tried) follows(i int) bool {
	return slices.ContainsFunc(tries[i+1:], func(t try) bool { return t.as == answer && r.bounded(t) != nil })
}

// add notes what a try has come to; nil: nothing. A fault alone about which nothing is said is left out.
func (r *tried) add(t try, s *Search) {
	if s == nil || t.alone && s.Inconclusive() {
		return
	}
	if r.once == nil && r.auto() {
		r.once = s
	}
	r.complete[t.as] = s.Complete && !t.alone
	switch {
	case t.as == answer && r.answer != nil:
		r.cut = append(r.cut, r.answer)
		r.answer = s
	case t.as == answer, t.as == wider && s.Complete:
		r.answer = s
	case s.Complete:
		r.beside = append(r.beside, s)
	default:
		r.cut = append(r.cut, s)
	}
}

// result is the answer with all that was tried; nil: nothing was.
func (r *tried) result() *Search {
	if s := r.answer; s != nil {
		s.Cut, s.Beside = r.cut, r.beside
		s.addOthers()
	}
	return r.answer
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

// CheckSearch says what is wrong with the bounds of a search of this lock, and what would be right.
func CheckSearch(entry lock.Entry, b Bounds) error {
	if err := checkAgain(b, entry); err != nil || b.Attempts == AnyAttempts {
		return err
	}
	return b.WithUsualAttempts().Check(entry)
}

// unlimited is b without a limit but that of the bounds that were asked for.
func (b Bounds) unlimited(asked Bounds) Bounds {
	b.MaxStates, b.Hopeful = asked.MaxStates, 0
	if asked.Timing == AutoTiming && b.MaxStates > AutoStates { // a limit that was not asked for
		b.Hopeful = AutoStates
	}
	return b
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

// Add adds a search of the same lock that was made beside s, and what it has found.
func (s *Search) Add(o *Search) {
	if o.Complete {
		s.Beside = append(s.Beside, o)
	} else {
		s.Cut = append(s.Cut, o)
	}
	s.addWitnesses(o)
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
	order := s.Bounds.Words()
	slices.SortStableFunc(s.Witnesses, func(a, b Witness) int { return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict) })
}

func (s *Search) hasAsGood(w Witness) bool {
	return slices.ContainsFunc(s.Witnesses, func(own Witness) bool { return own.Verdict == w.Verdict && own.Par <= w.Par })
}
