package explore

import "locklab/simulator/verdict"

// wordSet is a set of verdicts.
type wordSet uint16

// order is the order of a wordSet's bits. The last two are looked for only within a bound.
var order = []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock, verdict.Starved,
	verdict.Slow, verdict.Noisy}

func (s *wordSet) add(w verdict.Word) {
	for i, o := range order {
		if o == w {
			*s |= 1 << i
		}
	}
}

func (s wordSet) list() (words []verdict.Word) {
	for i, w := range order {
		if s&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return words
}
