package chart

import (
	"slices"
	"strings"
	"time"

	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// parSample has every kind of cell in it.
func parSample() Par {
	cells := [][]study.Par{
		{
			{Complete: true, Found: true, Par: 0, Steps: 9, Trace: "locklab2-a"},
			{Complete: true},
			{Complete: true, Found: true, Par: 1, Steps: 19, Ways: []string{"crash", "lose-reply"}, Trace: "locklab2-b"},
		},
		{
			{Complete: true, Found: true, Par: 1, Steps: 13, Ways: []string{"pause"}, Trace: "locklab2-c"},
			{Complete: true},
			{Complete: true},
		},
		{
			{Complete: true, Found: true, Par: 1, Steps: 15, Ways: []string{"pause", "restart", "failover"}, Trace: "locklab2-d"},
			{Found: true, Par: 2, Steps: 67, Ways: []string{"crash+pause"}, Trace: "locklab2-e"},
			{},
		},
		{{}, {}, {}}, // not finished
	}
	c := Par{ParTable: study.ParTable{
		Locks:    locksOf("setnx", "token", "redlock", "watchdog"),
		Verdicts: []verdict.Word{verdict.Overlap, verdict.Lie, verdict.Deadlock},
		Within:   study.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 2, TTL: 9 * time.Second}},
		Budgets:  []string{"crash=1", "pause=1"},
	}}
	for l, row := range cells {
		for n, p := range row {
			p.Strategy, p.Verdict = c.Locks[l].ID, c.Verdicts[n]
			c.Pars = append(c.Pars, p)
		}
		for _, budget := range c.Budgets { // of which each finds what it is enough for
			for n, p := range row {
				p.Strategy, p.Verdict = c.Locks[l].ID, c.Verdicts[n]
				if p.Found && p.Par > 0 && !slices.ContainsFunc(p.Ways, func(way string) bool { return strings.HasPrefix(way, strings.TrimSuffix(budget, "=1")) }) {
					p = study.Par{Strategy: p.Strategy, Verdict: p.Verdict, Complete: p.Complete}
				}
				c.Each = append(c.Each, p)
			}
		}
	}
	return c
}
