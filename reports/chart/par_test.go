package chart

import (
	"slices"
	"strings"
	"time"

	"locklab/reports"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// parChart has a lock that scheduling alone breaks, and one whose search was not finished.
func parChart() sample {
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
	c := &Par{ParTable: study.ParTable{
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
	pause := &Par{ParTable: study.ParTable{Locks: c.Locks[1:3], Verdicts: c.Verdicts[:1], Budgets: c.Budgets[1:],
		Rows: []study.Par{*c.Of(1, 1, 0), *c.Of(2, 1, 0)}}}
	return sample{
		Result: c,
		title:  `^One (.*) is enough to let two clients in with (.*)$`,
		claims: func(c *Chart, m title) bool {
			for _, fault := range strings.Split(m[1], " or ") {
				for _, lock := range m.names(2) {
					if rows := rowsOf(c, "lock", lock, "budget", fault+"=1", "verdict",
						"OVERLAP"); len(rows) != 1 || !rows[0].is("found") {
						return false
					}
				}
			}
			return true
		},
		others: map[string]Result{"One pause is enough to let two clients in with each of these 2 locks": pause},
		empty: []Result{&Par{}, &Par{ParTable: study.ParTable{Locks: locksOf("token")}},
			&Par{ParTable: study.ParTable{Verdicts: []verdict.Word{verdict.Lie}}}},
		texts: map[string]reports.Look{"par": {Width: reports.NarrowWidth}},
		csv:   c.Table().CSV,
		work:  true,
	}
}
