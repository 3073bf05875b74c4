package chart

import (
	"math"
	"slices"
	"testing"
	"time"

	"locklab/scenarios/cost"
)

// TestWaitingNames: a row of the picture has the id that the table has.
func TestWaitingNames(t *testing.T) {
	drawn := written(t, Of(waitingChart().Result, ""), Format{Lang: "en"})
	for _, id := range []string{"fixed: polling", "line: watching the one before"} {
		if !slices.Contains(drawn, id) {
			t.Errorf("there is no row %q in %q", id, drawn)
		}
	}
}

// A run that was cut short is marked, and no title rests on it.
func TestWaitingCut(t *testing.T) {
	c := *waitingChart().Result.(*WaitingChart)
	cut := cost.Waiting{Policy: "queue", Clients: 9, Quick: 90 * ms, Handover: 95 * ms, Slow: 99 * ms, Cut: true,
		Handovers: 12,
		Served:    0.2, PerEntry: 7}
	c.Results = append(slices.Clone(c.Results), cut)
	want := "Of 9 clients, within 18 entries fixed lets 33 % in, others up to 100 % (of the two ways that finished)"
	if got := c.Finding("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	drawn := written(t, Of(&c, ""), Format{Lang: "en"})
	if !slices.Contains(drawn, "95 ms (n=12) *") || !slices.Contains(drawn, "7 *") ||
		slices.Contains(drawn, "50 ms *") {
		t.Errorf("the run that was cut has no sign, or another one has: %q", drawn)
	}
}

// A way to wait in which the same client always gets the lock again has no handover, and is not the quickest.
func TestWaitingToNobody(t *testing.T) {
	c := *waitingChart().Result.(*WaitingChart)
	c.Results = append(slices.Clone(c.Results), cost.Waiting{Policy: "pttl", Clients: 9, Runs: 5, Entries: 90,
		PerEntry: 2, Served: 1.0 / 9})
	want := "Of 9 clients, within 18 entries pttl lets 11 % in, others up to 100 %"
	if got := c.Finding("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if drawn := written(t, Of(&c, ""), Format{Lang: "en"}); !slices.Contains(drawn, "to nobody") {
		t.Errorf("no row says that nobody else got the lock: %q", drawn)
	}
	rows := c.Table().records()
	if got := rows[len(rows)-1].cell("handover_mean_ns"); got != nil {
		t.Errorf("a handover of %v where there was none", got)
	}
}

// waitingChart has two ways to wait, with two numbers of clients.
func waitingChart() sample {
	of := func(policy string, clients int, quick, mean, slow time.Duration) cost.Waiting {
		return cost.Waiting{Policy: policy, Clients: clients, Quick: quick, Handover: mean, Slow: slow,
			Runs: 5, Entries: 90, Served: map[string]float64{"fixed": 1.0 / 3, "line": 1}[policy],
			PerEntry: float64(clients), Handovers: 400, Commands: 100}
	}
	all := []cost.Waiting{of("fixed", 2, 400*ms, 500*ms, 900*ms), of("line", 2, 9*ms, 10*ms, 11*ms),
		of("fixed", 9, 40*ms, 50*ms, 90*ms), of("line", 9, ms/2, ms, 2*ms)}
	overlapping := []cost.Waiting{of("fixed", 9, 2*ms, 50*ms, 90*ms), all[3]}
	overlapping[0].Served = 1
	return sample{
		Result: &WaitingChart{Load: cost.UsualLoad(), Results: all},
		title:  `^Of (\d+) clients, within 18 entries (\w+) lets (\d+) % in, others up to (\d+) %$`,
		claims: func(c *Chart, m title) bool {
			for _, r := range rowsOf(c, "clients", m[1]) {
				way, served := r.text("policy"), math.Round(100*r.number("share_served"))
				if served < m.number(3) || served > m.number(4) || way == m[2] && served > m.number(3) {
					return false
				}
			}
			return true
		},
		others: map[string]Result{
			"In no run that finished did one client hand the lock to another.": &WaitingChart{},
			"With 9 clients, a lock that changes hands is free for 1 ms to 50 ms on average, " +
				"by the way to wait": &WaitingChart{Results: overlapping},
		},
		empty: []Result{&WaitingChart{}},
	}
}
