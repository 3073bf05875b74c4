package verdict

import (
	"math/bits"
	"slices"
	"strings"

	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// All are the verdicts in the order in which every list has them: safety, progress, and neither.
var All = []Word{
	Overlap, StaleWrite, Fenced, WrongDel, Lie,
	Orphan, Deadlock, Blocked, Starved, Slow, Noisy,
	Unknown, Holds, Vacuous, NA,
}

// Answers are the verdicts that a race can be expected to come to: not those of a bound that must be given, and not
// UNKNOWN and VACUOUS, which are none.
var Answers = (SetOf(All...) &^ SetOf(Slow, Noisy, Unknown, Vacuous)).Words()

// ParseWord reads a verdict that a user has written, in capitals or not. The error lists all verdicts.
func ParseWord(written string) (Word, error) {
	w := Word(strings.ToUpper(written))
	if !slices.Contains(All, w) {
		return "", i18n.Errorf("error.verdict", "name", written, "names", strings.Join(Names(All), ", "))
	}
	return w, nil
}

// Broken reports whether w counts against the lock. FENCED does: a write came when the lock was
// gone, and only the resource saved the data. UNKNOWN does not.
func (w Word) Broken() bool { return slices.Contains(All[:11], w) }

// Safety reports whether w is about exclusion. Judged by that alone, a lock that deadlocks would look best.
func (w Word) Safety() bool { return slices.Contains(All[:5], w) }

// Harm reports whether w is a failure: exclusion broken, a false report, or no progress. A wait that ends by itself
// (ORPHAN, BLOCKED), the price of a time to live, is none; nor is what exceeds a bound that was given (SLOW, NOISY).
func (w Word) Harm() bool { return w.Safety() || w == Deadlock || w == Starved }

// Fails reports whether a run with these verdicts is a failure: a Harm is among them. An overlap is none
// whose late writes the resource refused (FENCED): exclusion was broken, and the data is safe.
func Fails(verdicts []Word) bool {
	safe := slices.Contains(verdicts, Fenced) && !slices.Contains(verdicts, StaleWrite)
	fails := func(w Word) bool { return w.Harm() && !(safe && (w == Overlap || w == Fenced)) }
	return slices.ContainsFunc(verdicts, fails)
}

// Settle turns the judgement of a run into the verdicts of a race. happened: what the race is about happened (the pause
// fell inside the lease; two contended). Broken words win over UNKNOWN, UNKNOWN over VACUOUS, and HOLDS remains.
func Settle(j Judgement, happened bool) []Word {
	broken := lists.Pick(j.Verdicts, Word.Broken)
	switch {
	case broken != nil:
		return broken
	case slices.Contains(j.Verdicts, Unknown):
		return []Word{Unknown}
	case !happened:
		return []Word{Vacuous}
	}
	return []Word{Holds}
}

// Names are verdicts as texts.
func Names(words []Word) []string { return lists.Each(words, func(w Word) string { return string(w) }) }

// A Set is a set of verdicts, a bit for each in the order of All.
type Set uint16

// SetOf returns the set of some verdicts.
func SetOf(words ...Word) (s Set) {
	for _, w := range words {
		s.Add(w)
	}
	return s
}

// Add adds a verdict. A word that is none is not added.
func (s *Set) Add(w Word) {
	if i := slices.Index(All, w); i >= 0 {
		*s |= 1 << i
	}
}

// Each yields the verdicts in order.
func (s Set) Each(yield func(Word) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(All[bits.TrailingZeros16(uint16(s))]) {
			return
		}
	}
}

// Words lists the verdicts in order; nil: there are none.
func (s Set) Words() []Word { return slices.Collect(s.Each) }
