package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A WaitingChart draws what ways to wait cost, against the number of clients.
type WaitingChart struct {
	Load    cost.Load
	Results []cost.WaitingResult // by policy, then by number of clients
}

// Name is that of Result, and so are the next ones.
func (c *WaitingChart) Name() string { return "waiting" }

// Assumptions are the numbers of the runs.
func (c *WaitingChart) Assumptions(lang string) string {
	l := c.Load
	return say(lang, "waiting.assumptions", "service", l.Service.String(), "latency", l.Latency.String(), "hold",
		length(l.Hold),
		"poll", length(l.Poll), "cap", length(l.Cap), "base", (l.Poll / 8).String(), "rest", length(l.Rest))
}

// crowded are the results that were played with most clients, and how many those are.
func crowded(all []cost.WaitingResult) (clients int, of []cost.WaitingResult) {
	for _, r := range all {
		if !r.Skipped {
			clients = max(clients, r.Clients)
		}
	}
	return clients, lists.Pick(all, func(r cost.WaitingResult) bool { return !r.Skipped && r.Clients == clients })
}

// notes say what was not played, or not to its end.
func (c *WaitingChart) notes(lang string) []string {
	list := func(key string, which func(cost.WaitingResult) bool) string {
		runs := lists.Each(lists.Pick(c.Results, which), func(r cost.WaitingResult) string {
			return say(lang, "waiting.at", "policy", r.Policy, "clients", thousands(r.Clients))
		})
		if runs == nil {
			return ""
		}
		return say(lang, key, "runs", text.Join(lang, "chart.list", runs), "most", thousands(c.Load.Most))
	}
	return []string{
		list("waiting.skipped", func(r cost.WaitingResult) bool { return r.Skipped }),
		list("waiting.cut", func(r cost.WaitingResult) bool { return r.Cut && !r.Skipped }),
		say(lang, "waiting.note"),
	}
}

// byPolicy are the results of each policy.
func (c *WaitingChart) byPolicy() [][]cost.WaitingResult {
	return lists.Gather(c.Results, func(a, b cost.WaitingResult) bool { return a.Policy == b.Policy })
}

// policies say what each policy is.
func (c *WaitingChart) policies(lang string) []string {
	return lists.Each(c.byPolicy(), func(of []cost.WaitingResult) string {
		return say(lang, "waiting.policy", "id", of[0].Policy, "what", say(lang, "policy."+of[0].Policy))
	})
}

// Table has one row for each policy and number of clients that was played.
func (c *WaitingChart) Table() *Table {
	names := "policy clients entries handover_mean_s:s handover_p99_s:s release_mean_s:s entries_per_second:1/s " +
		"commands_per_second:1/s commands_per_entry server_load jain_index longest_overtaking herd_size"
	played := lists.Pick(c.Results, func(r cost.WaitingResult) bool { return !r.Skipped })
	return tableOf(names, played, func(r cost.WaitingResult) []any {
		index := any(nil)
		if r.Jain != nil {
			index = places(*r.Jain, 2)
		}
		return []any{r.Policy, r.Clients, r.Entries, r.Handover, r.HandoverP99, r.Release, r.Throughput, r.Commands,
			r.PerEntry, r.Load, index, r.Overtaken, r.Herd}
	})
}

// Finding compares the handover where most clients wait.
func (c *WaitingChart) Finding(lang string) string {
	most, played := crowded(c.Results)
	if len(played) == 0 {
		return say(lang, "waiting.nothing")
	}
	quick, slow := extremes(played, func(r cost.WaitingResult) float64 { return r.Handover })
	return say(lang, "waiting.finding", "clients", thousands(most), "quick", wayOf(lang, quick.Policy),
		"least", number(math.Round(1e4*quick.Handover)/10), "slow", wayOf(lang,
			slow.Policy), "most", number(math.Round(1000*slow.Handover)))
}

// wayOf says how a policy waits, in a word or two.
func wayOf(lang, policy string) string { return say(lang, "policy.short."+policy) }

// Notes implements Result.
func (c *WaitingChart) Notes(lang string) []string { return append(c.policies(lang), c.notes(lang)...) }

// viewWaiting has what tells ways to wait apart.
func viewWaiting(c *Chart, _ string) *Table {
	return c.Table.only(func(name string) bool {
		return name != "entries" && name != "release_mean_s" && name != "entries_per_second"
	})
}

// drawWaiting has a line for each way to wait with most clients: the handover from its mean to its 99th percentile, and
// what an entry costs. The slowest stands out.
func drawWaiting(c *Chart, lang string) frame {
	all := c.Table.records()
	most := 0.0
	for _, r := range all {
		most = max(most, r.number("clients"))
	}
	all = lists.Pick(all, func(r record) bool { return r.number("clients") == most })
	ways := lists.Each(all, func(r record) string { return wayOf(lang, r.text("policy")) })
	var plots []*plot.Plot
	for n, m := range []struct {
		key, from, to string
		unit          float64
	}{{"handover", "handover_mean_s", "handover_p99_s", 1000}, {"entry", "commands_per_entry", "commands_per_entry", 1}} {
		p := rowed("", ways, n == 0)
		p.X.Label.Text = say(lang, "waiting.panel."+m.key)
		of := func(column string) []float64 {
			return lists.Each(all, func(r record) float64 { return m.unit * r.number(column) })
		}
		logarithmic(&p.X, append(of(m.from), of(m.to)...), number)
		slowest := slices.Max(of(m.from))
		p.Add(spans(lists.Each(lists.Indices(all), func(i int) span {
			from, to := of(m.from)[i], of(m.to)[i]
			stands := n == 0 && from == slowest
			s := span{y: -float64(i), from: from, to: to, color: inColor(stands), width: 4, words: places3(from), bold: stands}
			if m.from == m.to {
				s.width, s.shape = 0, draw.CircleGlyph{}
			}
			return s
		})))
		plots = append(plots, p)
	}
	return frame{below: []string{say(lang, "waiting.below", "clients", thousands(int(most)))}, body: panels(2, plots...),
		least: vg.Point{X: 400, Y: 50 + 15*vg.Length(len(ways))}}
}

// places3 writes three digits that count, and no more than one place.
func places3(x float64) string { return number(math.Round(10*x) / 10) }
