package chart

import (
	"io"
	"testing"
	"time"

	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
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
	c := Par{study.ParTable{
		Locks:    locksOf("setnx", "token", "redlock", "watchdog"),
		Verdicts: []verdict.Word{verdict.Overlap, verdict.Lie, verdict.Deadlock},
		Within:   study.Bounds{Clients: 2, Attempts: 2, TTL: 9 * time.Second},
		Budgets:  []string{"crash=1", "pause=1"},
	}}
	for l, row := range cells {
		for n, p := range row {
			p.Strategy, p.Verdict = c.Locks[l].ID, c.Verdicts[n]
			c.Pars = append(c.Pars, p)
		}
	}
	return c
}

func TestParCSV(t *testing.T) {
	c := parSample()
	samples.Golden(t, "par.csv", c.CSV)
}

func TestParText(t *testing.T) {
	c := parSample()
	samples.Golden(t, "par.txt", func(w io.Writer) error { return c.Text(w, reports.Options{Width: reports.NarrowWidth}) })
	for _, width := range []int{16, 30, 60} {
		samples.CheckWidth(t, "par", width, func(w io.Writer) error { return c.Text(w, reports.Options{Width: width}) })
	}
}

func TestParPNG(t *testing.T) {
	c := parSample()
	checkPNG(t, c.PNG, c.picture())
}

func TestParTakeaway(t *testing.T) {
	c := parSample()
	want := "OVERLAP: setnx without any fault; token, redlock with 1 fault; watchdog without an answer. " +
		"LIE: redlock with 2 faults; setnx, token proved free of it; watchdog without an answer. " +
		"DEADLOCK: setnx with 1 fault; token proved free of it; redlock, watchdog without an answer."
	if got := c.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Locks, c.Verdicts, c.Pars = c.Locks[1:3], c.Verdicts[:1], []study.Par{*c.At(1, 0), *c.At(2, 0)}
	if got, want := c.Takeaway("en"), "OVERLAP: every lock with 1 fault."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.Inconclusive() {
		t.Error("everything was told")
	}
}

func TestParOddSizes(t *testing.T) {
	for _, c := range []Par{{}, {study.ParTable{Locks: locksOf("token")}}, {study.ParTable{Verdicts: []verdict.Word{verdict.Lie}}}} {
		if err := c.PNG(io.Discard); err != nil {
			t.Error(err)
		}
		if err := c.Text(io.Discard, reports.Options{}); err != nil {
			t.Error(err)
		}
	}
}
