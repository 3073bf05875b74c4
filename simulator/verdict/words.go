package verdict

import "slices"

// The words in the order in which a Judgement lists them.
var (
	safetyWords   = []Word{Overlap, StaleWrite, Fenced, WrongDel, Lie}
	progressWords = []Word{Orphan, Deadlock, Blocked, Starved}
	order         = slices.Concat(safetyWords, progressWords, []Word{Unknown})
)

// Broken says whether w speaks against the lock. FENCED does: the data were
// saved by the resource, while the lock let two in. UNKNOWN does not.
func (w Word) Broken() bool {
	return slices.Contains(safetyWords, w) || slices.Contains(progressWords, w)
}

// Harm says whether w is a fall: exclusion broken, somebody lied to, or no way
// on. A wait that time ends (ORPHAN, BLOCKED) is the price of a time to live,
// and no fall.
func (w Word) Harm() bool { return w.Broken() && w != Orphan && w != Blocked }

// Safety gives the words about exclusion that were found, nil if none.
func (j Judgement) Safety() []Word { return among(j.Verdicts, safetyWords) }

// Progress gives the words about getting the lock at all that were found, nil
// if none. They stand beside those of Safety: judged by exclusion alone, the
// lock that deadlocks looks best.
func (j Judgement) Progress() []Word { return among(j.Verdicts, progressWords) }

// Settle turns the judgement of one run, or of many merged into one, into what
// a cell of a table says. Meaningful: the scenario's question makes sense for
// this lock. Struck: what the scenario is about did happen (the pause fell
// inside the lease; two contended). Broken words win over UNKNOWN, that wins
// over VACUOUS, and only what is left HOLDS.
func Settle(j Judgement, struck, meaningful bool) []Word {
	if !meaningful {
		return []Word{NA}
	}
	var broken []Word
	for _, w := range j.Verdicts {
		if w.Broken() {
			broken = append(broken, w)
		}
	}
	switch {
	case broken != nil:
		return broken
	case slices.Contains(j.Verdicts, Unknown):
		return []Word{Unknown}
	case !struck:
		return []Word{Vacuous}
	}
	return []Word{Holds}
}

// justHolds is shared by all judgements without findings; clipped, so that an
// append copies it.
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

func among(words, of []Word) []Word {
	var in []Word
	for _, w := range words {
		if slices.Contains(of, w) {
			in = append(in, w)
		}
	}
	return in
}

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
