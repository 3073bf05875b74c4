package study

import (
	"slices"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// FoundBy returns the search of s, s.Cut and s.Beside that has found a witness; nil: none of them.
func (s *Search) FoundBy(w Witness) *Search {
	for _, o := range slices.Concat([]*Search{s}, s.Cut, s.Beside, s.Ways) {
		if w.Trace.Settings == o.Bounds.String() {
			return o
		}
	}
	return nil
}

// The scopes of a search: what its proof is about.
const (
	ScopeAny      = "any"      // every timing
	ScopeInstants = "instants" // every timing, at the instants searched: see ComparesTimes
	ScopeLockstep = "lockstep" // one schedule
)

// Scope is one of the scopes.
func (s *Search) Scope() string {
	switch {
	case s.Bounds.Timing != AnyTiming:
		return ScopeLockstep
	case s.ComparesTimes():
		return ScopeInstants
	}
	return ScopeAny
}

// ComparesTimes reports whether the clients' code has looked at a clock, or at what is left of a
// key's time to live. With which constants it compares that is not seen: what it does between two
// instants that were searched is not known.
func (s *Search) ComparesTimes() bool {
	return s.ReadsClock || s.Measures || slices.ContainsFunc(s.Lengths, func(one simulator.Length) bool { return one.Of == simulator.Remainders })
}

// Verdicts returns the verdicts that s itself has found, in their order; nil: none.
func (s *Search) Verdicts() (words []verdict.Word) {
	for _, w := range s.Found { // in the order of their verdicts
		words = append(words, w.Verdict)
	}
	return slices.Compact(words)
}

// Inconclusive reports whether the search has found nothing, and a fault of the budget could
// be injected nowhere: it says nothing about that fault.
func (s *Search) Inconclusive() bool {
	return s.Complete && len(s.Witnesses) == 0 && s.Untriggered() != nil
}
