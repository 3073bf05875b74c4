package verdict

import (
	"slices"
	"strings"

	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// The words in the order in which a Judgement lists them.
var (
	safetyWords   = []Word{Overlap, StaleWrite, Fenced, WrongDel, Lie}
	progressWords = []Word{Orphan, Deadlock, Blocked, Starved, Slow, Noisy}
	order         = slices.Concat(safetyWords, progressWords, []Word{Unknown})
	all           = slices.Concat(order, []Word{Holds, Vacuous, NA})
)

// renamed are the verdicts that earlier versions called otherwise.
var renamed = map[Word]Word{"STALL": Deadlock, "PHANTOM": Orphan}

// Renamed returns the present name of a verdict that earlier versions called as a user has written;
// false: there is none.
func Renamed(written string) (now Word, ok bool) {
	now, ok = renamed[Word(strings.ToUpper(written))]
	return now, ok
}

// ParseWord reads a verdict that a user has written, in capitals or not. The error has the present
// name, or lists all verdicts.
func ParseWord(written string) (Word, error) {
	w := Word(strings.ToUpper(written))
	if now, ok := Renamed(written); ok {
		return "", i18n.Errorf("error.verdict.renamed", "old", written, "new", now)
	}
	if !slices.Contains(all, w) {
		return "", i18n.Errorf("error.verdict", "name", written, "names", strings.Join(Names(all), ", "))
	}
	return w, nil
}

// Broken reports whether w counts against the lock. FENCED does: a write came when the lock was
// gone, and only the resource saved the data. UNKNOWN does not.
func (w Word) Broken() bool { return w.safety() || w.progress() }

func (w Word) safety() bool   { return slices.Contains(safetyWords, w) }
func (w Word) progress() bool { return slices.Contains(progressWords, w) }

// Harm reports whether w is a failure: exclusion broken, a false report, or no progress.
// A wait that ends by itself (ORPHAN, BLOCKED) is the price of a time to live, and no
// failure; nor is what a bound says that was given (SLOW, NOISY).
func (w Word) Harm() bool { return w.safety() || w == Deadlock || w == Starved }

// Fails reports whether a run with these verdicts is a failure: a Harm is among them. An overlap is none
// whose late writes the resource refused (FENCED): exclusion was broken, and the data is safe.
func Fails(verdicts []Word) bool {
	safe := slices.Contains(verdicts, Fenced) && !slices.Contains(verdicts, StaleWrite)
	return slices.ContainsFunc(verdicts, func(w Word) bool { return w.Harm() && !(safe && (w == Overlap || w == Fenced)) })
}

// Safety gives the words about exclusion that were found, nil if none.
func (j Judgement) Safety() []Word { return lists.Pick(j.Verdicts, Word.safety) }

// Progress gives the words about getting the lock at all that were found, nil if none.
// Judged by exclusion alone, a lock that deadlocks would look best.
func (j Judgement) Progress() []Word { return lists.Pick(j.Verdicts, Word.progress) }

// Settle turns the judgement of a run into the verdicts of a scenario. meaningful: the
// question of the scenario makes sense for this lock. happened: what the scenario is
// about did happen (the pause fell inside the lease; two contended). Broken words win
// over UNKNOWN, UNKNOWN wins over VACUOUS, and HOLDS is what remains.
func Settle(j Judgement, happened, meaningful bool) []Word {
	if !meaningful {
		return []Word{NA}
	}
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

// justHolds is shared by all judgements without findings. It has no spare capacity, so
// that an append copies it.
var justHolds = slices.Clip([]Word{Holds})

// verdicts lists the distinct words of findings in order.
func verdicts(findings []Finding) []Word {
	if len(findings) == 0 {
		return justHolds
	}
	var s wordSet
	for i := range findings {
		s.add(findings[i].Verdict)
	}
	return s.list()
}

// Names are verdicts as texts.
func Names(words []Word) []string { return lists.Each(words, func(w Word) string { return string(w) }) }

// A wordSet is a set of words, one bit for each place in order.
type wordSet uint16

func (s *wordSet) add(w Word)     { *s |= 1 << slices.Index(order, w) }
func (s wordSet) has(w Word) bool { return s&(1<<slices.Index(order, w)) != 0 }

func (s wordSet) list() []Word {
	var words []Word
	for i, w := range order {
		if s&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return words
}
