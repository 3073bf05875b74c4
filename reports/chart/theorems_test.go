package chart

import (
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/study"
)

// theoremsSample has every extent, and a reason of each kind, in it.
func theoremsSample() *Theorems {
	c := &Theorems{study.Theorems{Locks: locksOf("setnx", "reentrant", "getset"), Budgets: []string{"crash=any", "pause=1@2s"}}}
	letters := [][]string{{"*****f", "****f*"}, {"ff1111", "ff.1?1"}, {"......", "??ff??"}}
	why := [][]string{{"", ""}, {"prove.once.token", "prove.once.token"}, {"prove.clock", "prove.clock"}}
	extents := map[rune]study.Extent{'f': study.Fails}
	for e, mark := range marks {
		extents[[]rune(mark)[0]] = e
	}
	for l, e := range c.Locks {
		for k, b := range c.Budgets {
			for n, letter := range []rune(letters[l][k]) {
				t := study.Theorem{Strategy: e.ID, Budget: b, Verdict: study.TheoremWords()[n], Extent: extents[letter], Why: why[l][k]}
				if t.Extent == study.Fails {
					t.Clients, t.Par, t.Trace = 2, l, "locklab2-a"
				}
				c.All = append(c.All, t)
			}
		}
	}
	return c
}

// TestTheoremReasons: each reason for which a proof is of one attempt has a short text for the table, in each language.
func TestTheoremReasons(t *testing.T) {
	for _, lang := range text.Languages() {
		for _, key := range text.In(lang).Keys("prove.once.") {
			if !text.In(lang).Has("theorems." + key) {
				t.Errorf("%s: no text theorems.%s", lang, key)
			}
		}
	}
}
