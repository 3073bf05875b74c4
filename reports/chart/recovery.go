package chart

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A RecoveryChart draws the time from a crash to the next entry, by lock and TTL, beside
// the handover without a crash.
type RecoveryChart struct{ Recoveries []cost.Recovery }

// Name is that of Result, and so are the next ones.
func (c *RecoveryChart) Name() string { return "recovery" }

// Title returns the question of the chart.
func (c *RecoveryChart) Title(lang string) string { return say(lang, "recovery.title") }

// Assumptions say what the client does, and when it crashes.
func (c *RecoveryChart) Assumptions(lang string) string {
	return say(lang, "recovery.assumptions", "hold", c.hold(lang), "retry", length(cost.PriceSettings().Retry))
}

// hold is the time for which the client works.
func (c *RecoveryChart) hold(lang string) string {
	for _, r := range c.Recoveries {
		if r.Hold != study.UsualWork(r.TTL) {
			return length(r.Hold)
		}
	}
	return say(lang, "work.usual")
}

// legend says for how long the client works, and what the marks are.
func (c *RecoveryChart) legend(lang string) string {
	return say(lang, "recovery.legend", "hold", c.hold(lang))
}

// A recoveryGroups is the locks by how they come back after a crash; those that do at most moments are in neither.
type recoveryGroups struct {
	never, back []string
	least, most float64 // median of back, in TTLs
}

func (c *RecoveryChart) groups() recoveryGroups {
	g := recoveryGroups{least: math.Inf(1)}
	for _, all := range c.byLock() {
		switch last := all[len(all)-1]; {
		case last.Ever() > 0.5:
			g.never = append(g.never, last.Strategy)
			continue
		case last.Ever() > 0:
			continue
		}
		g.back = append(g.back, all[0].Strategy)
		for _, r := range all {
			share := r.Quantile(0.5).Seconds() / r.TTL.Seconds()
			g.least, g.most = min(g.least, share), max(g.most, share)
		}
	}
	return g
}

// byLock are the recoveries of each lock, by TTL.
func (c *RecoveryChart) byLock() [][]cost.Recovery {
	return lists.Gather(c.Recoveries, func(a, b cost.Recovery) bool { return a.Strategy == b.Strategy })
}

// blocked writes a blocked time.
func blocked(lang string, d time.Duration) string {
	switch {
	case d == cost.Forever:
		return say(lang, "part.ever")
	case d >= 100*time.Millisecond:
		return length(d.Round(10 * time.Millisecond))
	}
	return d.Round(100 * time.Microsecond).String()
}

// longestOf is the longest that ends; cost.Forever if hardly any does.
func longestOf(r cost.Recovery) time.Duration {
	if r.Ever() > 0.5 {
		return cost.Forever
	}
	return r.Longest()
}

// text has one lock with one TTL per line.
func (c *RecoveryChart) text(out *layout.Lines) {
	lang := out.Lang()
	table := listing(1, 6, "recovery.head.", "lock ttl handover mean p50 p90 p99 longest ever", c.Recoveries,
		func(r cost.Recovery) []string {
			times := []time.Duration{r.Handover, r.Mean(), r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99), longestOf(r)}
			written := lists.Each(times, func(d time.Duration) string { return blocked(lang, d) })
			return slices.Concat([]string{r.Strategy, length(r.TTL)}, written, []string{portion(r.Ever())})
		})
	show(out, saying(c.Title, c.Assumptions), table, saying(claim(c), key("recovery.note")))
}

// Table has one row for each lock and TTL.
func (c *RecoveryChart) Table() *Table {
	names := "lock ttl_s:s hold_s:s handover_mean_s:s handover_longest_s:s blocked_mean_s:s blocked_p50_s:s " +
		"blocked_p90_s:s blocked_p99_s:s blocked_longest_s:s share_forever"
	return tableOf(names, c.Recoveries, func(r cost.Recovery) []any {
		return []any{r.Strategy, r.TTL, r.Hold, r.Handover, r.LongestHandover, r.Mean(),
			r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99), r.Longest(), r.Ever()}
	})
}

// Finding says for which part of the TTL a crash blocks the lock, and where for ever.
func (c *RecoveryChart) Finding(lang string) string {
	g := c.groups()
	switch {
	case g.back == nil:
		return c.Title(lang)
	case g.never == nil:
		return say(lang, "recovery.finding", "least", rounded(g.least, 2), "most", rounded(g.most, 2))
	}
	return say(lang, "recovery.finding.never", "least", rounded(g.least, 2), "most", rounded(g.most, 2), "locks",
		text.Join(lang, "chart.list", g.never))
}

// Notes implements Result.
func (c *RecoveryChart) Notes(lang string) []string {
	return []string{c.legend(lang), say(lang, "recovery.note")}
}

// mostRecoveries is the number of locks and TTLs of which each has a line of its own; of more, the shortest and the
// longest TTL of each lock have.
const mostRecoveries = 14

// drawRecovery has a line for each lock and TTL, in parts of the TTL: from the median to the longest time that ends.
// Those that never come back stand out.
func drawRecovery(c *Chart, lang string) frame {
	all := c.Table.records()
	if len(all) > mostRecoveries {
		var shown []record
		for _, of := range by("lock", all) {
			shown = append(shown, of[0])
			if len(of) > 1 {
				shown = append(shown, of[len(of)-1])
			}
		}
		all = shown
	}
	p := rowed("", lists.Each(all, func(r record) string {
		return r.text("lock") + "  " + say(lang, "term.ttl.name") + " " + r.text("ttl_s") + " s"
	}), true)
	p.X.Min, p.X.Max, p.X.Label.Text = 0, 1, say(lang, "recovery.axis")
	var marks spans
	for i, r := range all {
		ttl := r.number("ttl_s")
		median, longest, handover := r.number("blocked_p50_s"), r.number("blocked_longest_s"), r.number("handover_mean_s")
		s := span{y: -float64(i), from: median / ttl, to: longest / ttl, color: grey, width: 5}
		if ever := r.number("share_forever"); ever > 0.5 {
			s = span{y: s.y, to: 1, color: standout, width: 2, arrow: true, words: say(lang, "part.ever"), bold: true}
		} else {
			s.words = say(lang, "recovery.words", "median", rounded(median, 1), "longest", rounded(longest, 1))
			if ever > 0 {
				s.words += say(lang, "recovery.words.ever", "share", portion(ever))
			}
		}
		p.X.Max = max(p.X.Max, math.Ceil(4*max(s.to, handover/ttl)-0.02)/4)
		ring := span{y: s.y, to: handover / ttl, color: ink, shape: draw.RingGlyph{}}
		marks = append(marks, s, ring)
	}
	var quarters []float64
	for share := 0.0; share <= p.X.Max; share += 0.25 {
		quarters = append(quarters, share)
	}
	p.X.Tick.Marker = labelled(quarters, decimal)
	p.Add(marks)
	return frame{below: []string{say(lang, "recovery.below")}, body: panels(1, p),
		least: vg.Point{X: 400, Y: 40 + 13*vg.Length(len(all))}}
}
