package search

import (
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/node"
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
		amongOthers := w == verdict.Overlap && s.Lock.Holders == lock.AnyNumber // readers of which no writer is known
		return s.NoClaims && w == verdict.Lie || Enough(s.Lock, w) == 0 && !amongOthers
	})
}

// Unjudged are the verdicts of which a complete search says nothing: whatever the code does, they take more clients.
func (s *Search) Unjudged() (words []verdict.Word) {
	for _, w := range s.Looked() {
		if n := Enough(s.Lock, w); (n == 0 || n > s.Bounds.Clients) && !slices.Contains(s.Verdicts(), w) {
			words = append(words, w)
		}
	}
	return words
}

// Enough is the number of clients that it takes to show all of Unjudged; 0: no number of them can.
func (s *Search) Enough() (most int) {
	for _, w := range s.Unjudged() {
		n := Enough(s.Lock, w)
		if n == 0 {
			return 0
		}
		most = max(most, n)
	}
	return most
}

// Enough is verdict.Enough for clients of a search, which has a writer among readers.
func Enough(entry lock.Entry, w verdict.Word) int {
	if entry.Writer != nil {
		return verdict.Enough(w, 1)
	}
	return verdict.Enough(w, client.Room(entry))
}

// If lists what s claims on condition, by names of texts: what was checked in some histories and of some values only.
func (s *Search) If() []string {
	return s.ifs(s.Bounds.Attempts != 1, s.Bounds.Attempts == AnyAttempts)
}

// If is Search.If of any number of clients.
func (p *Proof) If() []string { return p.Search.ifs(p.Once.IsZero(), true) }

// ifs is If where clients rest, or there are any others.
func (s *Search) ifs(rest, others bool) (keys []string) {
	a, unique := s.Result.Assumed, s.Bounds.Tokens == client.Unique // else these are meant, and no others
	for _, one := range []struct {
		is  bool
		key string
	}{
		{s.Lock.New == nil, "own"}, // all that is said of it
		{a.Rests && rest, "keeps"},
		{s.Measures || s.Grain > 0, "clock"},
		{others && (a.Peers || a.Ordered) || unique && s.Tokens == simulator.TokensCompared, "compares"},
		{others && a.Counters > 0, "counts"},
		{s.hasMet(node.Insight) || unique && s.Tokens == simulator.TokensLookedInto, "looks"},
	} {
		if one.is {
			keys = append(keys, one.key)
		}
	}
	return keys
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

// ComparesTimes reports whether the clients' code has looked at a clock, or at what is left of a key's time to live.
// With which constants it compares that is not seen: what it does between two instants that were searched is not known.
func (s *Search) ComparesTimes() bool { return s.ReadsClock || s.Measures || s.hasMet(node.Remainders) }

// hasMet reports whether the code has asked servers for something of a kind.
func (s *Search) hasMet(what node.LengthOf) bool {
	return slices.ContainsFunc(s.Lengths, func(one node.Length) bool { return one.Of == what })
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
