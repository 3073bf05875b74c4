package chart

import (
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// A RecoveryChart draws the time from a crash to the next entry, by lock and TTL, beside
// the handover without a crash.
type RecoveryChart struct{ Recoveries []cost.Recovery }

// Title returns the question of the chart.
func (c *RecoveryChart) Title(lang string) string { return say(lang, "recovery.title") }

// Assumptions say what the client does, and when it crashes.
func (c *RecoveryChart) Assumptions(lang string) string {
	hold := say(lang, "recovery.hold.half")
	for _, r := range c.Recoveries {
		if r.Hold != r.TTL/2 {
			hold = length(r.Hold)
		}
	}
	return say(lang, "recovery.assumptions", "hold", hold, "retry", length(cost.PriceSettings().Retry))
}

// Takeaway says which locks may never come back, and what the others take in leases.
func (c *RecoveryChart) Takeaway(lang string) string {
	var never, sometimes, back []string
	least, most := math.Inf(1), 0.0
	for _, all := range c.byLock() {
		id, last := all[0].Strategy, all[len(all)-1]
		switch {
		case last.Ever() > 0.5:
			never = append(never, id)
			continue
		case last.Ever() > 0:
			sometimes = append(sometimes, say(lang, "recovery.sometimes.one", "lock", id, "share", portion(last.Ever()), "ttl", length(last.TTL)))
			continue
		}
		back = append(back, id)
		for _, r := range all {
			share := r.Mean().Seconds() / r.TTL.Seconds()
			least, most = min(least, share), max(most, share)
		}
	}
	var parts []string
	add := func(key string, locks []string, pairs ...string) {
		if len(locks) > 0 {
			parts = append(parts, say(lang, key, append(pairs, "locks", text.Join(lang, "chart.list", locks))...))
		}
	}
	add("recovery.never", never)
	add("recovery.sometimes", sometimes)
	add("recovery.back", back, "least", rounded(least, 2), "most", rounded(most, 2))
	return text.Join(lang, "grid.both", parts)
}

// byLock are the recoveries of each lock, by TTL.
func (c *RecoveryChart) byLock() [][]cost.Recovery {
	return gather(c.Recoveries, func(a, b cost.Recovery) bool { return a.Strategy == b.Strategy })
}

// blocked writes a blocked time.
func blocked(lang string, d time.Duration) string {
	switch {
	case d == cost.Forever:
		return say(lang, "recovery.ever")
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
	putEach(out, func(lang string) []string { return []string{c.Title(lang), c.Assumptions(lang)} })
	out.Put("", 0)
	names := heads(lang, "recovery.head.", "lock", "ttl", "handover", "mean", "p50", "p90", "p99", "longest", "ever")
	sheet := layout.Sheet{Right: layout.From(1), Floor: 6, Rows: withHeads(names, c.Recoveries,
		func(r cost.Recovery) []string {
			row := []string{r.Strategy, length(r.TTL)}
			for _, d := range []time.Duration{r.Handover, r.Mean(), r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99),
				longestOf(r)} {
				row = append(row, blocked(lang, d))
			}
			return append(row, portion(r.Ever()))
		})}
	sheet.WriteOrList(out, 1)
	out.Put("", 0)
	putEach(out, func(lang string) []string { return []string{c.Takeaway(lang), say(lang, "recovery.note")} })
}

// records has one line for each lock and TTL.
func (c *RecoveryChart) records() [][]any {
	names := row("strategy", "ttl_s", "hold_s", "handover_mean_s", "handover_longest_s", "blocked_mean_s", "blocked_p50_s",
		"blocked_p90_s", "blocked_p99_s", "blocked_longest_s", "share_forever")
	return withHeads(names, c.Recoveries, func(r cost.Recovery) []any {
		return []any{r.Strategy, r.TTL, r.Hold, r.Handover, r.LongestHandover, r.Mean(),
			r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99), r.Longest(), r.Ever()}
	})
}

func (c *RecoveryChart) data(h head) any {
	return struct {
		head
		Takeaway    string          `json:"takeaway"`
		Assumptions string          `json:"assumptions"`
		Recoveries  []cost.Recovery `json:"recoveries"`
	}{h, c.Takeaway("en"), c.Assumptions("en"), c.Recoveries}
}

// The measures of a chart of recoveries, in points.
const (
	recoveryLine vg.Length = 12
	recoveryGap  vg.Length = 8
	recoveryName vg.Length = 92
	recoveryTTL  vg.Length = 34
	recoveryEver vg.Length = 62
	recoveryAxis vg.Length = 26
)

// picture has a line for each lock and TTL, on a logarithmic scale of times.
func (c *RecoveryChart) picture(lang string) picture {
	height := recoveryLine*vg.Length(len(c.Recoveries)) + recoveryGap*vg.Length(len(c.byLock()))
	lines := block{height + recoveryAxis, func(canvas draw.Canvas, at vg.Rectangle) { c.draw(canvas, lang, at) }}
	return stacked(usualWidth, heading(c, lang, inner), space(10), lines,
		notes(faint, inner, say(lang, "recovery.legend"), c.Assumptions(lang), say(lang, "recovery.note")), space(6))
}

func (c *RecoveryChart) draw(canvas draw.Canvas, lang string, at vg.Rectangle) {
	f := crop(canvas, box(at.Min.X+recoveryName+recoveryTTL, at.Min.Y+recoveryAxis, at.Max.X-recoveryEver, at.Max.Y))
	top := 1.0
	for _, r := range c.Recoveries {
		top = max(top, math.Pow(10, math.Ceil(math.Log10(max(r.Longest().Seconds(), r.LongestHandover.Seconds(), 1)))))
	}
	// what is shorter than the scale stands at its beginning
	const low = 1e-3
	x := func(s float64) vg.Length { return f.X(plot.LogScale{}.Normalize(low, top, max(s, low))) }
	right := aligned(faint, draw.XRight)
	write(f, right, f.Min.X-6, f.Max.Y+5, "TTL")
	write(f, right, at.Max.X, f.Max.Y+5, say(lang, "recovery.head.ever"))
	rulesX(f, small, 8, x, decades(low, top, 1, func(s float64) string { return decimal(math.Round(s*1e3)/1e3) + " s" }))
	y := f.Max.Y - recoveryGap/2
	for _, all := range c.byLock() {
		for i, r := range all {
			middle := y - recoveryLine/2
			if i == 0 {
				write(f, smallStrong, at.Min.X, middle, fitText(smallStrong, r.Strategy, recoveryName))
			}
			write(f, aligned(small, draw.XRight), f.Min.X-6, middle, length(r.TTL))
			drawRecovery(f, middle, x, r)
			style := right
			if r.Ever() > 0 {
				style = aligned(smallStrong, draw.XRight)
			}
			write(f, style, at.Max.X, middle, portion(r.Ever()))
			y -= recoveryLine
		}
		f.StrokeLine2(hairlines, at.Min.X, y-recoveryGap/2, at.Max.X, y-recoveryGap/2)
		y -= recoveryGap
	}
}

// drawRecovery draws one lock with one TTL: from the shortest to the longest that ends, thick from
// the 10th to the 90th percentile, and the handover as a hollow mark.
func drawRecovery(c draw.Canvas, y vg.Length, x func(s float64) vg.Length, r cost.Recovery) {
	st := styleOf(r.Strategy)
	end := func(d time.Duration) vg.Length {
		if d == cost.Forever {
			return c.Max.X
		}
		return x(d.Seconds())
	}
	if r.Ever() < 0.5 {
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 0.9}, end(r.Quantile(0)), y, end(r.Longest()), y)
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 4}, end(r.Quantile(0.1)), y, end(r.Quantile(0.9)), y)
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 2.2, Shape: draw.CircleGlyph{}}, vg.Point{X: end(r.Quantile(0.5)), Y: y})
	}
	if r.Ever() > 0 {
		style, tip := draw.LineStyle{Color: st.color, Width: 1.6}, c.Max.X
		c.StrokeLine2(style, tip-14, y, tip, y)
		c.StrokeLine2(style, tip-4, y+3, tip, y)
		c.StrokeLine2(style, tip-4, y-3, tip, y)
	}
	if r.Handover > 0 {
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 2.6, Shape: draw.RingGlyph{}}, vg.Point{X: x(r.Handover.Seconds()),
			Y: y})
	}
}
