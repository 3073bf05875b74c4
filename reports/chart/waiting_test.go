package chart

import (
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
	cut := cost.Waiting{Policy: "queue", Clients: 9, Quick: 90 * ms, Handover: 95 * ms, Slow: 99 * ms, Cut: true}
	c.Results = append(slices.Clone(c.Results), cut)
	want := "With 9 clients a released lock stays free for 1 ms (watching the one before) to 50 ms " +
		"(polling) on average, of the policies that finished"
	if got := c.Finding("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	drawn := written(t, Of(&c, ""), Format{Lang: "en"})
	if !slices.Contains(drawn, "95 ms *") || slices.Contains(drawn, "50 ms *") {
		t.Errorf("the run that was cut has no sign, or another one has: %q", drawn)
	}
}

// waitingChart has two ways to wait, with two numbers of clients.
func waitingChart() sample {
	of := func(policy string, clients int, quick, mean, slow time.Duration) cost.Waiting {
		return cost.Waiting{Policy: policy, Clients: clients, Quick: quick, Handover: mean, Slow: slow,
			PerEntry: float64(clients)}
	}
	all := []cost.Waiting{of("fixed", 2, 400*ms, 500*ms, 900*ms), of("line", 2, 9*ms, 10*ms, 11*ms),
		of("fixed", 9, 40*ms, 50*ms, 90*ms), of("line", 9, ms/2, ms, 2*ms)}
	overlapping := []cost.Waiting{of("fixed", 9, 2*ms, 50*ms, 90*ms), all[3]}
	return sample{
		Result: &WaitingChart{Load: cost.UsualLoad(), Results: all},
		title: `^With (\d+) clients a released lock stays free for ([\d.]+) ms \((.*)\) to ([\d.]+) ms ` +
			`\((.*)\) on average$`,
		claims: func(c *Chart, m title) bool {
			for _, r := range rowsOf(c, "clients", m[1]) {
				way, is := wayOf("en", r.text("policy")), r.number("handover_mean_ns")/1e6
				if is < m.number(2)-0.05 || is > m.number(4)+0.05 || way == m[3] && is > m.number(2)+0.05 ||
					way == m[5] && is < m.number(4)-0.05 {
					return false
				}
			}
			return true
		},
		others: map[string]Result{
			"No run was finished.": &WaitingChart{},
			"With 9 clients a released lock stays free for 1 ms to 50 ms on average, " +
				"by the way to wait": &WaitingChart{Results: overlapping},
		},
		empty: []Result{&WaitingChart{}},
	}
}
