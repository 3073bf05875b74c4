package chart

import (
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
	c := &Par{ParTable: study.ParTable{
		Locks:    locksOf("setnx", "token", "redlock", "watchdog"),
		Verdicts: []verdict.Word{verdict.Overlap, verdict.Lie, verdict.Deadlock},
		Within:   search.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 2, TTL: 9 * time.Second}},
		Budgets:  []string{"crash=1", "pause=1"},
	}}
	lockstep, open := study.Par{Complete: true}, study.Par{}
	none := study.Par{Complete: true, Late: 3}
	found := func(par, steps int, trace string) study.Par {
		return study.Par{Complete: true, Found: true, Par: par, Steps: steps, Trace: trace}
	}
	cut, late := study.Par{Found: true, Par: 2, Steps: 67, Trace: "locklab2-e"}, found(1, 15, "locklab2-d")
	late.Late = 2
	for i, p := range []study.Par{ // by lock, budget and verdict
		found(0, 9, "locklab2-a"), lockstep, found(1, 19, "locklab2-b"), found(0, 9, "locklab2-a"), lockstep, lockstep,
		none, none, none, found(1, 13, "locklab2-c"), lockstep, lockstep,
		lockstep, cut, open, late, none, none,
		open, open, open, lockstep, none, none,
	} {
		p.Lock, p.Budget, p.Verdict = c.Locks[i/6].ID, c.Budgets[i/3%2], c.Verdicts[i%3]
		c.Rows = append(c.Rows, p)
	}
	pause := &Par{ParTable: study.ParTable{Locks: c.Locks[1:3], Verdicts: c.Verdicts[:1], Budgets: c.Budgets[1:],
		Rows: []study.Par{c.Rows[9], c.Rows[15]}}}
	return sample{
		Result: c,
		title:  `^One (.*) lets two clients into (.*)$`,
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
		others: map[string]Result{"One pause lets two clients into each of these 2 locks": pause},
		empty: []Result{&Par{}, &Par{ParTable: study.ParTable{Locks: locksOf("token")}},
			&Par{ParTable: study.ParTable{Verdicts: []verdict.Word{verdict.Lie}}}},
		texts: map[string]reports.Look{"par": {Width: reports.NarrowWidth}},
		csv:   c.Table().CSV,
		work:  true,
	}
}
