package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// AnyAttempts in place of a number of attempts: any number of them, at any timing; see explore.SearchAgain. What is
// found has its witnesses in searches of as many attempts as they need; see Search.Ways.
const AnyAttempts = -2

const (
	mostAttempts = 9
	// wayStates bound a search for a witness.
	wayStates = 3_000_000
)

// forAgain is b with what was left open as a search of any number of attempts has it.
func forAgain(b Bounds) Bounds {
	if b.Timing == AutoTiming {
		b.Timing = AnyTiming
	}
	if b.Uses == AutoUses {
		b.Uses = 0
	}
	return b
}

// counted is b with so many attempts, and with each fault so often if none is used up.
func counted(b Bounds, attempts, times int) Bounds {
	b.Attempts = attempts
	if b.Endless {
		b.Budget = inTimes(b.Budget, fmt.Sprint(times))
	}
	b.Endless = false
	return b
}

// checkAgain returns an error if b asks for what a search of any number of attempts does not do.
func checkAgain(b Bounds, entry lock.Entry) error {
	odd := forAgain(b).Unlike(Bounds{Timing: AnyTiming}, "timing", "uses", "tokens", "skew", "fenced", "slow", "noisy")
	switch {
	case b.Attempts != AnyAttempts && b.Endless:
		return i18n.Errorf("error.again.endless", "budget", writtenBudget(b))
	case b.Attempts != AnyAttempts:
		return nil
	case b.Causes:
		odd = []string{"all=true"}
	case b.Recheck:
		odd = []string{"recheck=true"}
	case entry.Guard != "":
		return i18n.Errorf("error.again.unlocked", "lock", entry.ID)
	case entry.Ensemble() && b.Endless && b.Budget != "crash=1" && b.Budget != "expire-session=1":
		return i18n.Errorf("error.again.sessions", "lock", entry.ID, "budget", writtenBudget(b))
	case b.Settled(entry).Nodes > 1: // what one attempt left behind on few of them the next one still owns
		return i18n.Errorf("error.again.servers", "lock", entry.ID)
	}
	if odd != nil {
		return i18n.Errorf("error.again.with", "flag", AsFlags(odd[0]))
	}
	return counted(forAgain(b), 1, 1).Check(entry)
}

// exploreAgain is Explore of any number of attempts.
func exploreAgain(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	b = forAgain(b)
	m, err := counted(b, 1, 1).Model(entry)
	if err != nil {
		return nil, err
	}
	result, err := explore.SearchAgain(ctx, m, b.Endless)
	if result == nil && errors.Is(err, ctx.Err()) {
		return nil, err
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		return nil, i18n.Errorf("error.cause", "of", entry.ID, "cause", err)
	}
	s := &Search{Lock: entry, Bounds: b.Settled(entry), Result: result}
	if err == nil {
		err = s.findWays(ctx)
	}
	return s, err
}

// findWays searches for the witnesses of what was found.
func (s *Search) findWays(ctx context.Context) error {
	sought := s.Result.Found
	s.Result.Found = nil
	for more := range 2 { // clients that stop early may have to go on
		for attempts := 1; attempts <= mostAttempts && len(sought) > 0; attempts++ {
			var these []explore.Witness
			for _, w := range sought {
				if w.Attempts+more == attempts {
					these = append(these, w)
				}
			}
			way, err := s.way(ctx, attempts, these)
			if err != nil {
				return err
			}
			if way == nil {
				continue
			}
			s.Ways = append(s.Ways, way)
			for _, w := range way.Witnesses {
				s.Result.Found, s.Witnesses = append(s.Result.Found, w.Witness), append(s.Witnesses, w)
			}
			sought = slices.DeleteFunc(sought, func(w explore.Witness) bool {
				return slices.ContainsFunc(s.Witnesses, func(found Witness) bool { return found.Verdict == w.Verdict })
			})
		}
	}
	for _, w := range sought {
		s.Open = append(s.Open, w.Verdict)
	}
	order := func(w verdict.Word) int { return slices.Index(explore.Words(), w) }
	slices.SortFunc(s.Found, func(a, b explore.Witness) int { return order(a.Verdict) - order(b.Verdict) })
	slices.SortFunc(s.Witnesses, func(a, b Witness) int { return order(a.Verdict) - order(b.Verdict) })
	return nil
}

// way searches so many attempts for some verdicts; nil: it has found none.
func (s *Search) way(ctx context.Context, attempts int, wanted []explore.Witness) (*Search, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	times := 1
	for i := range wanted {
		times = max(times, wanted[i].Par)
	}
	b := counted(s.Bounds, attempts, times)
	b.MaxStates = wayStates
	m, err := b.Model(s.Lock)
	if err != nil {
		return nil, err
	}
	r, err := explore.Confirm(ctx, m, wanted)
	if err != nil {
		return nil, err
	}
	r.Found = slices.DeleteFunc(r.Found, func(w explore.Witness) bool {
		return !slices.ContainsFunc(wanted, func(one explore.Witness) bool { return one.Verdict == w.Verdict })
	})
	way := &Search{Lock: s.Lock, Bounds: b, Result: r}
	for _, w := range r.Found {
		way.Witnesses = append(way.Witnesses, Witness{w, b.Trace(s.Lock, w.Choices)})
	}
	if len(r.Found) == 0 {
		return nil, nil
	}
	return way, nil
}
