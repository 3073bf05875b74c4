package study

import (
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
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

// Looked are the verdicts that a search looks for: those that its clients, or more of them, can show.
func (s *Search) Looked() []verdict.Word {
	return slices.DeleteFunc(s.Bounds.Words(), func(w verdict.Word) bool {
		return s.NoClaims && w == verdict.Lie || enough(s.Strategy, w) == 0 && !judgedAmongOthers(s.Strategy, w)
	})
}

// Unjudged are the verdicts of which a complete search says nothing, since it takes more clients to show them, whatever the code does.
func (s *Search) Unjudged() (words []verdict.Word) {
	for _, w := range s.Looked() {
		if n := enough(s.Strategy, w); (n == 0 || n > s.Bounds.Clients) && !slices.Contains(s.Verdicts(), w) {
			words = append(words, w)
		}
	}
	return words
}

// Enough is the number of clients that it takes to show all of Unjudged; 0: no number of them can.
func (s *Search) Enough() (most int) {
	for _, w := range s.Unjudged() {
		n := enough(s.Strategy, w)
		if n == 0 {
			return 0
		}
		most = max(most, n)
	}
	return most
}

// enough is verdict.Enough for clients of a search, which has a writer among readers.
func enough(entry lock.Entry, w verdict.Word) int {
	if entry.Writer != nil {
		return verdict.Enough(w, 1)
	}
	return verdict.Enough(w, client.Room(entry))
}

// judgedAmongOthers reports whether a lock keeps others out, but none of its own clients: readers of which no writer is known.
func judgedAmongOthers(entry lock.Entry, w verdict.Word) bool {
	return w == verdict.Overlap && entry.Holders == lock.AnyNumber
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
