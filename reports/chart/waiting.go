package chart

import (
	"math"
	"slices"
	"strconv"
	"time"

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
	said := say(lang, "waiting.assumptions", "ttl", length(l.TTL), "service", length(l.Service),
		"latency", length(l.Latency), "work", length(l.Work), "poll", length(l.Poll), "cap", length(l.Cap),
		"base", length(l.Poll/8), "rest", length(l.Rest), "runs", strconv.Itoa(cost.WaitingRuns))
	cut := lists.Pick(c.Results, func(r cost.Waiting) bool { return r.Cut })
	if len(cut) == 0 {
		return said
	}
	runs := lists.Each(cut, func(r cost.Waiting) string {
		return say(lang, "waiting.at", "policy", r.Policy, "clients", thousands(r.Clients))
	})
	return text.Join(lang, "part.sentences", []string{said,
		say(lang, "waiting.cut", "runs", text.Join(lang, "chart.list", runs), "most", thousands(l.Most))})
}

// Table has one row for each policy and number of clients.
func (c *WaitingChart) Table() *Table { return tableBy(c.Results) }

// Finding compares the handover where most clients wait, in runs that came to their end. It names ways to wait only if
// most handovers of the one are shorter than those of the other.
func (c *WaitingChart) Finding(lang string) string {
	most := slices.Max(append(lists.Each(c.Results, func(r cost.Waiting) int { return r.Clients }), 0))
	of := lists.Pick(c.Results, func(r cost.Waiting) bool { return r.Clients == most })
	all := lists.Pick(of, func(r cost.Waiting) bool { return !r.Cut })
	if len(all) == 0 {
		return say(lang, "waiting.nothing")
	}
	quick, slow := extremes(all, func(r cost.Waiting) float64 { return r.Handover.Seconds() })
	key := "waiting.finding"
	if quick.Slow >= slow.Quick {
		key = "waiting.finding.alike"
	}
	shown := func(d time.Duration) string { return nanoseconds(float64(d)) }
	said := say(lang, key, "clients", thousands(most), "quick", wayOf(lang, quick.Policy),
		"least", shown(quick.Handover), "slow", wayOf(lang, slow.Policy), "most", shown(slow.Handover))
	if len(all) < len(of) {
		return say(lang, "waiting.finding.ended", "first", said)
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
	return c.Table.only(func(name string) bool { return name != "entries" && name != "truncated" })
}

// drawWaiting has a line for each way to wait with most clients: the handover, of which nine of ten lie in the
// interval, and what an entry costs. The slowest stands out, of those whose run came to its end.
func drawWaiting(c *Chart, lang string) frame {
	all := c.Table.records()
	most := slices.Max(numbers("clients", all))
	all = lists.Pick(all, func(r record) bool { return r.number("clients") == most })
	ended := lists.Pick(all, func(r record) bool { return !r.is("truncated") })
	handover, cost := numbers("handover_mean_ns", all), numbers("commands_per_entry", all)
	quick, slow := numbers("handover_p5_ns", all), numbers("handover_p95_ns", all)
	least, largest := numbers("handover_least_run_ns", all), numbers("handover_largest_run_ns", all)
	ways := lists.Each(all, func(r record) string {
		return say(lang, "chart.means", "of", r.text("policy"), "is", wayOf(lang, r.text("policy")))
	})
	var foot []string
	if c.narrow {
		foot = []string{say(lang, "grid.stop", "text", text.Join(lang, "grid.join", ways))}
		ways = values("policy", all)
	}
	times, commands := rowed("", ways, true), rowed("", ways, false)
	times.X.Label.Text, commands.X.Label.Text = say(lang, "waiting.panel.handover"), say(lang, "waiting.panel.entry")
	logarithmic(&times.X, slices.Concat(handover, quick, slow), nanoseconds)
	logarithmic(&commands.X, cost, number)
	var intervals, between, entries spans
	var means dots
	below := say(lang, "waiting.below", "runs", all[0].text("runs"), "clients", thousands(int(most)))
	for i, r := range all {
		sign, stands := draw.GlyphDrawer(draw.CircleGlyph{}), !r.is("truncated") &&
			handover[i] == slices.Max(numbers("handover_mean_ns", ended))
		s := span{y: -float64(i), color: inColor(stands), bold: stands}
		s.from, s.to, s.width, s.words = quick[i], slow[i], 2, nanoseconds(handover[i])
		between = append(between, span{y: s.y, from: least[i], to: largest[i], width: 9, bold: stands, color: s.color})
		if r.is("truncated") {
			s.words, sign = s.words+" *", draw.RingGlyph{}
			means = append(means, dot{x: handover[i], y: s.y, color: white, shape: draw.CircleGlyph{}})
		}
		intervals = append(intervals, s)
		means = append(means, dot{x: handover[i], y: s.y, color: ink, shape: sign})
		tenths := number(math.Round(10*cost[i]) / 10)
		entries = append(entries, span{y: s.y, to: cost[i], color: grey, shape: draw.CircleGlyph{}, words: tenths})
	}
	times.Add(intervals, between, means)
	commands.Add(entries)
	f := c.tiles(below, 2, vg.Point{X: vg.Length(c.aside(200, 130)), Y: 50 + 15*vg.Length(len(ways))}, times, commands)
	f.foot = foot
	return f
}
