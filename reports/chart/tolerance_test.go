package chart

import (
	"io"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/internal/samples"
)

// toleranceSample has every kind of limit in it.
func toleranceSample() Tolerance {
	return Tolerance{
		Locks:   []string{"setnx", "getset", "token", "watchdog", "redlock"},
		Servers: []int{1, 1, 1, 1, 3},
		Max:     2,
		Hazards: []Hazard{
			{
				ID: "pause", Sized: true,
				Guides: []Guide{{0.6, "work"}, {2.0 / 3, "renewal"}},
				Limits: []Limit{{Holds: 2}, {Holds: 0.55, Falls: 0.6}, {Holds: 0.55, Falls: 0.6}, {Holds: 1.95, Falls: 2}, {Holds: 0.85, Falls: 0.9}},
			},
			{
				ID: "node-clock", Sized: true,
				Limits: []Limit{{Holds: 2}, {Holds: 2}, {Holds: 0.55, Falls: 0.6}, {Inconclusive: true}, {Holds: 0.5, Falls: 0.55}},
			},
			{
				ID: "client-clock", Sized: true,
				Limits: []Limit{{Holds: 2}, {Falls: 0.05}, {Holds: 2}, {Holds: 2}, {Holds: 2}},
			},
			{ID: "failover", Limits: []Limit{{Falls: 1}, {Falls: 1}, {Falls: 1}, {Inconclusive: true}, {}}},
			{ID: "restart", Limits: []Limit{{Falls: 1}, {Falls: 1}, {Falls: 1}, {Falls: 1}}}, // redlock not given
		},
	}
}

func TestToleranceCSV(t *testing.T) {
	f := toleranceSample()
	samples.Golden(t, "tolerance.csv", f.CSV)
}

func TestToleranceText(t *testing.T) {
	f := toleranceSample()
	samples.Golden(t, "tolerance.txt", func(w io.Writer) error { return f.Text(w, reports.Options{Width: reports.NarrowWidth}) })
	for _, width := range []int{30, 60, 81} {
		samples.CheckWidth(t, "tolerance", width, func(w io.Writer) error { return f.Text(w, reports.Options{Width: width}) })
	}
}

func TestTolerancePNG(t *testing.T) {
	f := toleranceSample()
	checkPNG(t, f.PNG, f.picture())
}

func TestToleranceTakeaway(t *testing.T) {
	f := toleranceSample()
	want := "A majority (redlock) survives more pause than one server (0.90 and 0.60 leases), and less node-clock than one server (0.55 and 0.60 leases). " +
		"pause: getset, token from 0.60 leases on; redlock from 0.90 leases on; watchdog from 2.00 leases on; setnx never up to 2 leases. " +
		"node-clock: redlock from 0.55 leases on; token from 0.60 leases on; setnx, getset never up to 2 leases; watchdog without an answer. " +
		"client-clock: getset at any size; the others never up to 2 leases. " +
		"failover: setnx, getset, token with one fault; redlock never; watchdog without an answer. " +
		"restart: setnx, getset, token, watchdog with one fault; redlock without an answer."
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
	for _, f := range []Tolerance{{}, {Locks: []string{"token"}}, {Max: 2, Hazards: []Hazard{{ID: "pause", Sized: true}}}} {
		if err := f.PNG(io.Discard); err != nil {
			t.Error(err)
		}
		if err := f.Text(io.Discard, reports.Options{}); err != nil {
			t.Error(err)
		}
	}
}
