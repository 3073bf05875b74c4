package chart

import (
	"io"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
)

// toleranceSample has every kind of limit in it.
func toleranceSample() Tolerance {
	const never = study.MaxLeases
	cells := [][]study.Limit{
		{{Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6}, {Answer: study.NoLimit, Holds: never}, {Answer: study.AnySize, Falls: 0.05}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6}, {Answer: study.Limited, Holds: 0.55, Falls: 0.6}, {Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 1.95, Falls: 2}, {Answer: study.NoAnswer}, {Answer: study.NoLimit, Holds: never}, {Answer: study.NoAnswer}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.85, Falls: 0.9}, {Answer: study.Limited, Holds: 0.5, Falls: 0.55}, {Answer: study.NoLimit, Holds: never}, {Answer: study.HoldsOnce}, {Answer: study.NoAnswer}},
	}
	f := Tolerance{Tolerance: study.Tolerance{
		Locks:   append(locksOf("setnx", "getset", "token", "watchdog"), lock.Entry{ID: "redlock", Nodes: 5}),
		Hazards: []study.Hazard{{Fault: "pause", Sized: true}, {Fault: "node-clock", Sized: true}, {Fault: "client-clock", Sized: true}, {Fault: "failover"}, {Fault: "restart"}},
	}}
	for i, row := range cells {
		for n, l := range row {
			l.Strategy, l.Fault = f.Locks[i].ID, f.Hazards[n].Fault
			f.Limits = append(f.Limits, l)
		}
	}
	return f
}

func TestToleranceCSV(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	f := toleranceSample()
	samples.Golden(t, "tolerance.csv", csvOf(&f))
}

func TestToleranceText(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	f := toleranceSample()
	samples.Golden(t, "tolerance.txt", func(w io.Writer) error { return Text(w, &f, reports.Look{Width: reports.NarrowWidth}) })
	for _, width := range []int{30, 60, 81} {
		samples.CheckWidth(t, "tolerance", width, func(w io.Writer) error { return Text(w, &f, reports.Look{Width: width}) })
	}
}

func TestTolerancePNG(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	f := toleranceSample()
	checkPNG(t, &f)
}

func TestToleranceTakeaway(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	f := toleranceSample()
	want := "A majority (redlock) tolerates more pause than one server (0.90 and 0.60 leases), and less node-clock than one server (0.55 and 0.60 leases). " +
		"pause: getset, token failed from 0.60 leases on; redlock failed from 0.90 leases on; watchdog failed from 2.00 leases on; setnx did not fail up to 2 leases. " +
		"node-clock: redlock failed from 0.55 leases on; token failed from 0.60 leases on; setnx, getset did not fail up to 2 leases; watchdog without an answer. " +
		"client-clock: getset failed at any size; the others did not fail up to 2 leases. " +
		"failover: setnx, getset, token failed with one fault; redlock did not fail; watchdog without an answer. " +
		"restart: setnx, getset, token, watchdog failed with one fault; redlock without an answer."
	if got := f.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.Locks = f.Locks[:1]
	if got := f.Takeaway("en"); strings.Contains(got, "majority") || strings.Contains(got, "every") {
		t.Errorf("of one lock it says %s", got)
	}
}

// Charts of nothing, of no lock and of no hazard are drawn all the same.
func TestToleranceOddSizes(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	for _, f := range []Tolerance{{}, {Tolerance: study.Tolerance{Locks: locksOf("token")}}, {Tolerance: study.Tolerance{Hazards: []study.Hazard{{Fault: "pause", Sized: true}}}}} {
		if err := PNG(io.Discard, &f, Format{}); err != nil {
			t.Error(err)
		}
		if err := Text(io.Discard, &f, reports.Look{}); err != nil {
			t.Error(err)
		}
	}
}
