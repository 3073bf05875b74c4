package chart

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/reports"
	"locklab/reports/internal/samples"
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

func TestParCSV(t *testing.T) {
	c := parSample()
	samples.Golden(t, "par.csv", csvOf(&c))
}

func TestParText(t *testing.T) {
	c := parSample()
	samples.Golden(t, "par.txt", func(w io.Writer) error { return Text(w, &c, reports.Look{Width: reports.NarrowWidth}) })
	for _, width := range []int{16, 30, 60} {
		samples.CheckWidth(t, "par", width, func(w io.Writer) error { return Text(w, &c, reports.Look{Width: width}) })
	}
}

func TestParPNG(t *testing.T) {
	c := parSample()
	checkPNG(t, &c)
}

func TestParTakeaway(t *testing.T) {
	c := parSample()
	want := "OVERLAP: setnx without any fault; by pause: token, redlock; watchdog without an answer. " +
		"LIE: by crash: redlock; setnx, token proved safe from it within these bounds; watchdog without an answer. " +
		"DEADLOCK: by crash: setnx; token proved safe from it within these bounds; redlock, watchdog without an answer."
	if got := c.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	one := Par{ParTable: study.ParTable{Locks: c.Locks[1:3], Verdicts: c.Verdicts[:1], Pars: []study.Par{*c.At(1, 0), *c.At(2, 0)},
		Budgets: c.Budgets[1:], Each: []study.Par{*c.Of(1, 1, 0), *c.Of(2, 1, 0)}}}
	if got, want := one.Takeaway("en"), "OVERLAP: by pause: every lock."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = one
	if c.Inconclusive() {
		t.Error("everything was told")
	}
}

func TestParOddSizes(t *testing.T) {
	for _, c := range []Par{{}, {ParTable: study.ParTable{Locks: locksOf("token")}}, {ParTable: study.ParTable{Verdicts: []verdict.Word{verdict.Lie}}}} {
		if err := PNG(io.Discard, &c, Format{}); err != nil {
			t.Error(err)
		}
		if err := Text(io.Discard, &c, reports.Look{}); err != nil {
			t.Error(err)
		}
	}
}
