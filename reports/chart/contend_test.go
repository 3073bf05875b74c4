package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"locklab/reports"
	"locklab/scenarios/cost"
)

func sampleContention() *ContendChart {
	jain := 0.5
	m := cost.Measures{Acquired: 19, GaveUp: 1, Acquire: cost.Quantiles{P50: 0.001, P90: 0.01, P99: 0.1, Max: 0.2}, Release: cost.Quantiles{P50: 1e-4, P90: 2e-4, P99: 3e-4, Max: 4e-4},
		Throughput: 100, Commands: map[string]int{"set": 60, "eval": 20, "del": 20}, Jain: &jain}
	half := m
	half.Throughput, half.Commands, half.Together = 50, map[string]int{"set": 160, "eval": 20, "del": 20}, 3
	return &ContendChart{
		Contention: cost.Contention{Clients: 4, Requests: 20, Load: cost.Load{Hold: time.Millisecond, Poll: time.Millisecond, Cap: time.Second, TTL: time.Second, Patience: time.Second}},
		Version:    "7.0.15",
		Results:    []Contended{{Policy: "fixed", Lock: "token", Real: m, Lab: half}, {Policy: "none", Lock: "setnx", Real: half, Lab: m}},
	}
}

// TestContendChart: the sentences hold what the numbers say, and a picture of numbers without an end, or
// of nobody, comes to an end.
func TestContendChart(t *testing.T) {
	c := sampleContention()
	for _, want := range []string{"from 50 requests a second (none setnx) to 100 (fixed token)", "from 5.0 commands (fixed token) to 10 (none setnx)", "a second within a factor of 2.0", "commands within 2.0"} {
		if got := c.Takeaway("en"); !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	var out bytes.Buffer
	if err := Text(&out, c, reports.Look{Width: 120}); err != nil || !strings.Contains(out.String(), "none setnx: 3 entries while another client was inside") || strings.Contains(out.String(), "fixed token: 3") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := CSV(&out, c); err != nil || !strings.Contains(out.String(), "fixed,token,real,4,20,19,1,0,0,0.001,0.01,0.1,0.2,0.0001,0.0002,0.0003,0.0004,100,5,0.5,del=20 eval=20 set=60\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
	c.Results[0].Real.Throughput = math.Inf(1)
	c.Results[1].Lab = cost.Measures{GaveUp: 20}
	for _, draw := range []func() error{func() error { return PNG(new(bytes.Buffer), c, Format{}) }, func() error { return SVG(new(bytes.Buffer), c, Format{}) }} {
		if err := draw(); err != nil {
			t.Error(err)
		}
	}
}
