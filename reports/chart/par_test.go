package chart

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// parSample has every kind of cell in it.
func parSample() Par {
	type par struct {
		study.Par
		ways string // the faults that are enough
	}
	cells := [][]par{
		{
			{study.Par{Complete: true, Found: true, Par: 0, Steps: 9, Trace: "locklab2-a"}, ""},
			{study.Par{Complete: true}, ""},
			{study.Par{Complete: true, Found: true, Par: 1, Steps: 19, Trace: "locklab2-b"}, "crash lose-reply"},
		},
		{
			{study.Par{Complete: true, Found: true, Par: 1, Steps: 13, Trace: "locklab2-c"}, "pause"},
			{study.Par{Complete: true}, ""},
			{study.Par{Complete: true}, ""},
		},
		{
			{study.Par{Complete: true, Found: true, Par: 1, Steps: 15, Trace: "locklab2-d"}, "pause restart failover"},
			{study.Par{Found: true, Par: 2, Steps: 67, Trace: "locklab2-e"}, "crash+pause"},
			{},
		},
		{{}, {}, {}}, // not finished
	}
	c := Par{ParTable: study.ParTable{
		Locks:    locksOf("setnx", "token", "redlock", "watchdog"),
		Verdicts: []verdict.Word{verdict.Overlap, verdict.Lie, verdict.Deadlock},
		Within:   search.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 2, TTL: 9 * time.Second}},
		Budgets:  []string{"crash=1", "pause=1"},
	}}
	for l, row := range cells {
		for _, budget := range c.Budgets { // of which each finds what it is enough for
			for n, p := range row {
				enough := slices.ContainsFunc(strings.Fields(p.ways), func(way string) bool {
					return strings.HasPrefix(way, strings.TrimSuffix(budget, "=1"))
				})
				one := p.Par
				if p.Found && p.Par.Par > 0 && !enough {
					one = study.Par{Complete: p.Complete}
				}
				one.Lock, one.Budget, one.Verdict = c.Locks[l].ID, budget, c.Verdicts[n]
				c.Rows = append(c.Rows, one)
			}
		}
	}
	return c
}

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
				t := study.Theorem{Lock: e.ID, Budget: b, Verdict: study.TheoremWords()[n], Extent: extents[letter], Why: why[l][k]}
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

// toleranceSample has every kind of limit in it.
func toleranceSample() Tolerance {
	const never = study.MaxLeases
	cells := [][]study.Limit{
		{{Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.NoLimit, Holds: never}, {Answer: study.AnySize, Falls: 0.05}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 1.95, Falls: 2}, {Answer: study.NoAnswer}, {Answer: study.NoLimit, Holds: never}, {Answer: study.NoAnswer}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.85, Falls: 0.9}, {Answer: study.Limited, Holds: 0.5, Falls: 0.55, Boundary: true}, {Answer: study.NoLimit, Holds: never}, {Answer: study.HoldsOnce}, {Answer: study.NoAnswer}},
	}
	f := Tolerance{Tolerance: study.Tolerance{
		Locks:   append(locksOf("setnx", "getset", "token", "watchdog"), lock.Entry{ID: "redlock", Server: lock.OnRedis(5)}),
		Hazards: []study.Hazard{{Fault: "pause", Sized: true}, {Fault: "node-clock", Sized: true}, {Fault: "client-clock", Sized: true}, {Fault: "failover"}, {Fault: "restart"}},
	}}
	for i, row := range cells {
		for n, l := range row {
			l.Lock, l.Fault = f.Locks[i].ID, f.Hazards[n].Fault
			f.Limits = append(f.Limits, l)
		}
	}
	return f
}
