package chart

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
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

// Takeaway says which locks may never come back, and what the others take in leases.
func (c *RecoveryChart) Takeaway(lang string) string {
	g := c.groups(lang)
	var parts []string
	add := func(key string, locks []string, pairs ...string) {
		if len(locks) > 0 {
			parts = append(parts, say(lang, key, append(pairs, "locks", text.Join(lang, "chart.list", locks))...))
		}
	}
	add("recovery.never", g.never)
	add("recovery.sometimes", g.sometimes)
	add("recovery.back", g.back, "least", rounded(g.least, 2), "most", rounded(g.most, 2))
	return text.Join(lang, "grid.both", parts)
}

// A recoveryGroups is the locks by how they come back after a crash.
type recoveryGroups struct {
	never, back []string
	sometimes   []string // sentences
	least, most float64  // mean of back, in TTLs
}

func (c *RecoveryChart) groups(lang string) recoveryGroups {
	g := recoveryGroups{least: math.Inf(1)}
	for _, all := range c.byLock() {
		id, last := all[0].Strategy, all[len(all)-1]
		switch {
		case last.Ever() > 0.5:
			g.never = append(g.never, id)
			continue
		case last.Ever() > 0:
			g.sometimes = append(g.sometimes, say(lang, "recovery.sometimes.one", "lock", id, "share", portion(last.Ever()), "ttl", length(last.TTL)))
			continue
		}
		g.back = append(g.back, id)
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
	table := listing(1, 6, "recovery.head.", "lock ttl handover mean p50 p90 p99 longest ever", c.Recoveries,
		func(r cost.Recovery) []string {
			times := []time.Duration{r.Handover, r.Mean(), r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99), longestOf(r)}
			written := lists.Each(times, func(d time.Duration) string { return blocked(lang, d) })
			return slices.Concat([]string{r.Strategy, length(r.TTL)}, written, []string{portion(r.Ever())})
		})
	show(out, saying(c.Title, c.Assumptions), table, saying(c.Takeaway, key("recovery.note")))
}

// records has one line for each lock and TTL.
func (c *RecoveryChart) records() [][]any {
	return csvLines("strategy ttl_s hold_s handover_mean_s handover_longest_s blocked_mean_s blocked_p50_s "+
		"blocked_p90_s blocked_p99_s blocked_longest_s share_forever", c.Recoveries, func(r cost.Recovery) []any {
		return []any{r.Strategy, r.TTL, r.Hold, r.Handover, r.LongestHandover, r.Mean(),
			r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99), r.Longest(), r.Ever()}
	})
}

func (c *RecoveryChart) data() object {
	return object{"takeaway", c.Takeaway("en"), "assumptions", c.Assumptions("en"), "recoveries", c.Recoveries}
}

// The measures of a chart of recoveries, in points.
const (
	recoveryLine vg.Length = 11 // at least
	recoveryGap  vg.Length = 6
	recoveryName vg.Length = 92
	recoveryTTL  vg.Length = 34
	recoveryEver vg.Length = 62
	recoveryAxis vg.Length = 26

	mostRecoveries = 14 // of which each has a line of its own
)

// Finding says for which part of the TTL a crash blocks the lock, and where for ever.
func (c *RecoveryChart) Finding(lang string) string {
	g := c.groups(lang)
	switch {
	case g.back == nil:
		return c.Title(lang)
	case g.never == nil:
		return say(lang, "recovery.finding", "least", rounded(g.least, 2), "most", rounded(g.most, 2))
	}
	return say(lang, "recovery.finding.never", "least", rounded(g.least, 2), "most", rounded(g.most, 2), "locks", text.Join(lang, "chart.list", g.never))
}

// drawn returns the recoveries that a picture has room for: many are those with the shortest and the longest TTL.
func (c *RecoveryChart) drawn() (shown []cost.Recovery) {
	if len(c.Recoveries) <= mostRecoveries {
		return c.Recoveries
	}
	for _, all := range c.byLock() {
		shown = append(shown, all[0])
		if len(all) > 1 {
			shown = append(shown, all[len(all)-1])
		}
	}
	return shown
}

// picture has a line for each lock and TTL, on a scale of parts of the TTL.
func (c *RecoveryChart) picture(f Format) picture {
	shown := &RecoveryChart{c.drawn()}
	height := recoveryLine*vg.Length(len(shown.Recoveries)) + recoveryGap*vg.Length(len(c.byLock()))
	body := growing(height+recoveryAxis, func(place draw.Canvas) { shown.draw(place, f.Lang) })
	return f.fitted(c, []string{c.legend(f.Lang)}, 0, func(vg.Length) []block { return []block{space(8), body} })
}

// Notes implements Chart.
func (c *RecoveryChart) Notes(lang string) []string {
	return []string{seriesLeft(lang, len(c.drawn()), len(c.Recoveries)), c.legend(lang), c.Assumptions(lang), say(lang, "recovery.note")}
}

func (c *RecoveryChart) draw(place draw.Canvas, lang string) {
	top := 1.0 // in TTLs
	for _, r := range c.Recoveries {
		top = max(top, math.Ceil(4*max(r.Longest().Seconds(), r.LongestHandover.Seconds())/r.TTL.Seconds()-0.02)/4)
	}
	f := draw.Crop(place, recoveryName+recoveryTTL, -recoveryEver, recoveryAxis, 0)
	recoveryLine := (f.Size().Y - recoveryGap*vg.Length(len(c.byLock()))) / vg.Length(max(len(c.Recoveries), 1))
	x := func(share float64) vg.Length { return f.X(share / top) }
	var quarters []plot.Tick
	for share := 0.0; share <= top; share += 0.25 {
		quarters = append(quarters, plot.Tick{Value: share, Label: decimal(share) + " TTL"})
	}
	right := aligned(faint, draw.XRight)
	write(f, right, f.Min.X-6, f.Max.Y+5, "TTL")
	write(f, right, place.Max.X, f.Max.Y+5, say(lang, "recovery.head.ever"))
	rulesX(f, small, 8, x, quarters)
	y := f.Max.Y - recoveryGap/2
	for _, all := range c.byLock() {
		write(f, smallStrong, place.Min.X, y-recoveryLine/2, fitText(smallStrong, all[0].Strategy, recoveryName))
		for _, r := range all {
			middle := y - recoveryLine/2
			write(f, aligned(small, draw.XRight), f.Min.X-6, middle, length(r.TTL))
			drawRecovery(f, middle, func(s float64) vg.Length { return x(s / r.TTL.Seconds()) }, r)
			style := right
			if r.Ever() > 0 {
				style = aligned(smallStrong, draw.XRight)
			}
			write(f, style, place.Max.X, middle, portion(r.Ever()))
			y -= recoveryLine
		}
		f.StrokeLine2(hairlines, place.Min.X, y-recoveryGap/2, place.Max.X, y-recoveryGap/2)
		y -= recoveryGap
	}
}

// drawRecovery draws one lock with one TTL: from the shortest to the longest that ends, thick from
// the 10th to the 90th percentile, and the handover as a hollow mark.
func drawRecovery(c draw.Canvas, y vg.Length, x func(s float64) vg.Length, r cost.Recovery) {
	st := style{color: styleOf(r.Strategy).color}
	median, handover := style{color: ink, marker: draw.CircleGlyph{}}, style{color: ink, marker: draw.RingGlyph{}}
	end := func(d time.Duration) vg.Length {
		if d == cost.Forever {
			return c.Max.X
		}
		return x(d.Seconds())
	}
	if r.Ever() < 0.5 {
		c.StrokeLine2(st.line(0.9), end(r.Quantile(0)), y, end(r.Longest()), y)
		c.StrokeLine2(st.line(4), end(r.Quantile(0.1)), y, end(r.Quantile(0.9)), y)
		c.DrawGlyph(median.glyph(2.2), vg.Point{X: end(r.Quantile(0.5)), Y: y})
	}
	if r.Ever() > 0 {
		tip := c.Max.X
		for _, from := range []vg.Point{{X: tip - 14, Y: y}, {X: tip - 4, Y: y + 3}, {X: tip - 4, Y: y - 3}} {
			c.StrokeLine2(st.line(1.6), from.X, from.Y, tip, y)
		}
	}
	if r.Handover > 0 {
		c.DrawGlyph(handover.glyph(2.6), vg.Point{X: x(r.Handover.Seconds()), Y: y})
	}
}
