package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A WaitingChart draws what ways to wait cost, with the most clients of some numbers.
type WaitingChart struct {
	Load    cost.Load
	Results []cost.Waiting // by policy, then by number of clients
}

// Name is that of Result, and so are the next ones.
func (c *WaitingChart) Name() string { return "waiting" }

// Assumptions are the numbers of the runs.
func (c *WaitingChart) Assumptions(lang string) string {
	l := c.Load
	return say(lang, "waiting.assumptions", "ttl", length(l.TTL), "service", length(l.Service), "work", length(l.Work),
		"latency", length(l.Latency), "poll", length(l.Poll), "cap", length(l.Cap), "base", length(l.Poll/8),
		"rest", length(l.Rest), "stop", thousands(l.Most), "runs", thousands(cost.WaitingRuns))
}

// Table has one row for each policy and number of clients.
func (c *WaitingChart) Table() *Table { return tableBy(c.Results) }

// Finding says where fewest get in, or compares the handover, with most clients, in runs that came to their end. It
// names ways to wait only if most handovers of the one are shorter than those of the other.
func (c *WaitingChart) Finding(lang string) string {
	most := slices.Max(append(lists.Each(c.Results, func(r cost.Waiting) int { return r.Clients }), 0))
	of := lists.Pick(c.Results, func(r cost.Waiting) bool { return r.Clients == most })
	all := lists.Pick(of, func(r cost.Waiting) bool { return !r.Cut })
	handed := lists.Pick(all, func(r cost.Waiting) bool { return r.Handover > 0 })
	if len(handed) == 0 {
		return say(lang, "waiting.nothing")
	}
	quick, slow := extremes(handed, func(r cost.Waiting) float64 { return r.Handover.Seconds() })
	few, many := extremes(all, func(r cost.Waiting) float64 { return r.Served })
	key := "waiting.finding"
	if quick.Slow >= slow.Quick {
		key = "waiting.finding.alike"
	}
	said := say(lang, key, "quick", quick.Policy, "least", nanoseconds(float64(quick.Handover)), "slow", slow.Policy,
		"most", nanoseconds(float64(slow.Handover)), "clients", thousands(most))
	if few.Served < 1-1e-9 {
		said = say(lang, "waiting.finding.served", "clients", thousands(most), "few", few.Policy,
			"share", percent(few.Served), "best", percent(many.Served), "entries", thousands(few.Entries/few.Runs))
	}
	if len(all) < len(of) {
		said = say(lang, "waiting.finding.ended", "first", said, "n", inWords(lang, len(all)))
	}
	return said
}

// wayOf says how a policy waits, in a word or two.
func wayOf(lang, policy string) string { return say(lang, "policy.short."+policy) }

// Notes say what each policy is.
func (c *WaitingChart) Notes(lang string) []string {
	policies := values("policy", c.Table().records())
	notes := lists.Each(policies, func(id string) string {
		return say(lang, "chart.means", "of", id, "is", say(lang, "policy."+id))
	})
	return append(notes, say(lang, "waiting.note"))
}

// viewWaiting has what tells ways to wait apart.
func viewWaiting(c *Chart, _ string) *Table {
	return c.Table.only(func(name string) bool {
		return name != "runs" && name != "entries" && !strings.HasSuffix(name, "_run_ns")
	})
}

// waitingRow is a way to wait in each of three panels; of one that was cut the share of clients is left out.
type waitingRow struct {
	handover      span
	between       spans // the means of runs
	mean          dots
	served, entry spans
}

// rowOf draws a way to wait at a height. The worst stand out, of those whose run came to its end: ended.
func (r record) rowOf(y float64, ended []record, lang string) (row waitingRow) {
	sign, mark, cut := draw.GlyphDrawer(draw.CircleGlyph{}), "", r.is("truncated")
	if cut {
		mark, sign = " *", draw.RingGlyph{}
	}
	mean, share := r.number("handover_mean_ns"), r.number("share_served")
	longer := func(o record) bool { return o.number("handover_mean_ns") > mean }
	stands := !cut && mean > 0 && !slices.ContainsFunc(ended, longer)
	row.handover = span{y: y, color: inColor(stands), bold: stands, words: say(lang, "waiting.handover.none") + mark}
	if mean > 0 {
		words := number(mean/1e6) + " ms"
		if n := r.number("handovers"); n < 100 {
			words += fmt.Sprintf(" (n=%v)", n)
		}
		s := &row.handover
		s.from, s.to, s.width, s.words = r.number("handover_p5_ns"), r.number("handover_p95_ns"), 2, words+mark
		row.between = spans{{y: y, from: r.number("handover_least_run_ns"), to: r.number("handover_largest_run_ns"),
			width: 9, bold: stands, color: s.color}}
		row.mean = dots{{x: mean, y: y, color: ink, shape: sign},
			{x: mean, y: y, color: white, shape: draw.CircleGlyph{}}} // the last one is below
	}
	if few := share < 1 && share == slices.Min(append(numbers("share_served", ended), 1)); !cut {
		row.served = spans{{y: y, to: share, color: inColor(few), bold: few, shape: sign, words: percent(share) + " %"}}
	}
	cost := r.number("commands_per_entry")
	row.entry = spans{{y: y, to: cost, color: grey, shape: sign, words: number(math.Round(10*cost)/10) + mark}}
	return row
}

// drawWaiting has a line for each way to wait with most clients: the handover, of which nine of ten lie in the
// interval, how many clients got in, and what an entry costs.
func drawWaiting(c *Chart, lang string) frame {
	all := c.Table.records()
	most := slices.Max(numbers("clients", all))
	all = lists.Pick(all, func(r record) bool { return r.number("clients") == most })
	ended := lists.Pick(all, func(r record) bool { return !r.is("truncated") })
	ways := lists.Each(all, func(r record) string {
		return say(lang, "chart.means", "of", r.text("policy"), "is", wayOf(lang, r.text("policy")))
	})
	names := map[bool][]string{false: ways, true: values("policy", all)}[c.narrow]
	times, inside, commands := rowed("", names, true), rowed("", names, false), rowed("", names, false)
	times.X.Label.Text, commands.X.Label.Text = say(lang, "waiting.panel.handover"), say(lang, "waiting.panel.entry")
	inside.X.Min, inside.X.Max = 0, 1
	inside.X.Tick.Marker = labelled([]float64{0, 0.5, 1}, func(v float64) string { return percent(v) + " %" })
	spread := slices.Concat(numbers("handover_mean_ns", all), numbers("handover_p5_ns", all),
		numbers("handover_p95_ns", all))
	logarithmic(&times.X, spread, func(ns float64) string { return number(ns / 1e6) })
	logarithmic(&commands.X, numbers("commands_per_entry", all), number)
	var intervals, between, served, entries spans
	var means dots
	for i, r := range all {
		row := r.rowOf(-float64(i), ended, lang)
		intervals, between, means = append(intervals, row.handover), append(between, row.between...),
			append(means, row.mean...)
		served, entries = append(served, row.served...), append(entries, row.entry...)
	}
	times.Add(intervals, between, means)
	inside.Add(served)
	commands.Add(entries)
	below := say(lang, "waiting.below", "runs", all[0].text("runs"), "clients", thousands(int(most)))
	if len(ended) > 0 {
		n := thousands(int(ended[0].number("entries") / ended[0].number("runs")))
		inside.X.Label.Text = say(lang, "waiting.panel.served", "entries", n)
		lasted := func(r record) float64 { // one run, on average
			return 1e9 * r.number("commands_per_entry") * r.number("entries") / r.number("runs") /
				r.number("commands_per_second")
		}
		short, long := extremes(lists.Each(ended, lasted), func(ns float64) float64 { return ns })
		below = text.Join(lang, "part.sentences", []string{below,
			say(lang, "waiting.below.lasted", "from", nanoseconds(short), "to", nanoseconds(long))})
	}
	panels, foot := []*plot.Plot{times, inside, commands}, []string(nil)
	if c.narrow { // there is room for words only
		each := lists.Each(lists.Indices(all), func(i int) string { return names[i] + " " + entries[i].words })
		panels, foot = panels[:2], []string{say(lang, "grid.stop", "text", text.Join(lang, "grid.join", ways)),
			say(lang, "chart.of", "of", say(lang, "waiting.entry"), "is", text.Join(lang, "grid.join", each))}
	}
	f := c.tiles(below, 3, vg.Point{X: vg.Length(c.aside(170, 130)), Y: 50 + 15*vg.Length(len(ways))}, panels...)
	f.foot = foot
	return f
}
