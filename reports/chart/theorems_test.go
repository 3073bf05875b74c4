package chart

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
)

// theoremsChart has every extent, and a reason of each kind, in it.
func theoremsChart() sample {
	c := &Theorems{study.Theorems{Locks: locksOf("setnx", "reentrant", "getset"),
		Budgets: []string{"crash=any", "pause=1@2s"}}}
	letters := [][]string{{"*****f", "****f*"}, {"ff1111", "ff.1?1"}, {"......", "??ff??"}}
	why := [][]string{{"", ""}, {"prove.once.token", "prove.once.token"}, {"prove.clock", "prove.clock"}}
	extents := map[rune]study.Extent{'*': study.Unbounded, '1': study.OneAttempt, '.': study.Bounded, 'f': study.Fails,
		'?': study.Undecided}
	for l, e := range c.Locks {
		for k, b := range c.Budgets {
			for n, letter := range []rune(letters[l][k]) {
				t := study.Theorem{Lock: e.ID, Budget: b, Verdict: study.TheoremWords()[n], Extent: extents[letter],
					Why: why[l][k]}
				if t.Extent == study.Fails {
					t.Clients, t.Par, t.Trace = 2, l, "locklab2-a"
				}
				c.All = append(c.All, t)
			}
		}
	}
	limited := &Theorems{study.Theorems{Locks: locksOf("watchdog"), Budgets: []string{"crash=any"}}}
	for _, w := range study.TheoremWords() {
		one := study.Theorem{Lock: "watchdog", Budget: "crash=any", Verdict: w, Extent: study.OneAttempt}
		limited.All = append(limited.All, one)
	}
	return sample{
		Result: c,
		others: map[string]Result{"Proved free of all six verdicts with any number of crashes, any " +
			"number of clients and delays up to 1/12 of a lease: watchdog (if each client takes watchdog " +
			"once)": limited},
		title: `^With (.+), none of these is proved free of all six verdicts for any number of clients: ` +
			`setnx, reentrant, getset$`,
		claims: func(c *Chart, m title) bool {
			proved := 0
			for _, r := range c.Table.records() {
				if m[1] == say("en", "theorems.with."+strings.ReplaceAll(r.text("budget"), "=", ".")) &&
					slices.Contains([]string{"any", "once"}, r.text("extent")) {
					proved++
				}
			}
			return proved == 9 // of eighteen: five of setnx, and four of reentrant
		},
		empty: []Result{&Theorems{}},
		texts: map[string]reports.Look{"theorems": {Width: reports.NarrowWidth}},
		csv:   c.Table().CSV,
	}
}

// TestConclusive: what was not computed is missed; what has no proof for a reason was told.
func TestConclusive(t *testing.T) {
	c := theoremsChart().Result.(*Theorems)
	if c.Inconclusive() {
		t.Error("everything was told")
	}
	if c.All[len(c.All)-1].Why = ""; !c.Inconclusive() {
		t.Error("what was not computed is not missed")
	}
}

// TestTheoremBounds: the fractions that texts name are those of the searches.
func TestTheoremBounds(t *testing.T) {
	b := search.DefaultBounds()
	b.Timing = search.AnyTiming
	for lock, patience := range map[string]time.Duration{"token": 4 * b.Step(), "redlock": b.Step()} {
		entry, _ := algorithms.ByName(lock)
		m, err := b.Model(entry)
		if err != nil || 12*b.Step() != b.TTL || m.Timing.Lateness != b.Step() || m.Timing.Work != 4*b.Step() ||
			m.Patience() != patience || (m.Timing.Latency == b.Step()) != (lock == "token") {
			t.Errorf("%s: %+v, %v", lock, m.Timing, err)
		}
	}
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
