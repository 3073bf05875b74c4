package chart

import (
	"io"
	"math"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/scenarios/cost"
)

// PNG draws a line for each lock and TTL, on a logarithmic scale of times.
func (c *RecoveryChart) PNG(w io.Writer) error { return c.picture().png(w) }

// SVG draws the same as PNG; its text is outlines.
func (c *RecoveryChart) SVG(w io.Writer) error { return c.picture().svg(w) }

// The measures of a chart of recoveries, in points.
const (
	recoveryLine vg.Length = 12
	recoveryGap  vg.Length = 8
	recoveryName vg.Length = 92
	recoveryTTL  vg.Length = 34
	recoveryEver vg.Length = 62
	recoveryAxis vg.Length = 26
)

type recoveryPlot struct {
	c       *RecoveryChart
	lang    string
	heading heading
	foot    []string
	low     float64 // of the scale, powers of ten of a second
	top     float64
	lines   int
}

func (c *RecoveryChart) picture() picture {
	p := newRecoveryPlot(c)
	return picture{width: rateWidth, height: p.height(), draw: p.draw}
}

func newRecoveryPlot(c *RecoveryChart) *recoveryPlot {
	p := &recoveryPlot{c: c, lang: c.Lang, low: 1e-3, top: 1, lines: len(c.Recoveries)}
	if p.lang == "" {
		p.lang = "en"
	}
	inner := rateWidth - 2*margin
	p.heading = heading{title: c.Title(p.lang), takeaway: c.Takeaway(p.lang), width: inner}
	small := writing(smallSize, ink)
	p.foot = append(foldText(small, say(p.lang, "recovery.legend"), inner), foldText(small, c.Assumptions(p.lang), inner)...)
	p.foot = append(p.foot, foldText(small, say(p.lang, "recovery.note"), inner)...)
	for _, r := range c.Recoveries {
		p.top = max(p.top, math.Pow(10, math.Ceil(math.Log10(max(r.Longest().Seconds(), r.LongestHandover.Seconds(), 1)))))
	}
	return p
}

func (p *recoveryPlot) body() vg.Length {
	return recoveryLine*vg.Length(p.lines) + recoveryGap*vg.Length(len(p.c.strategies()))
}

func (p *recoveryPlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.body() + recoveryAxis + smallSize*leading*vg.Length(len(p.foot)) + 16
}

// x is the position of a time; what is shorter than the scale stands at its beginning.
func (p *recoveryPlot) x(f vg.Rectangle, d time.Duration) vg.Length {
	share := math.Log(max(d.Seconds(), p.low)/p.low) / math.Log(p.top/p.low)
	return f.Min.X + f.Size().X*vg.Length(share)
}

func (p *recoveryPlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	top := p.heading.draw(c, left, c.Max.Y-margin) - 10
	f := box(left+recoveryName+recoveryTTL, top-p.body(), c.Max.X-margin-recoveryEver, top)
	small := writing(smallSize, ink)
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: f.Min.X - 6, Y: top + 5}, "TTL")
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: c.Max.X - margin, Y: top + 5}, say(p.lang, "recovery.head.ever"))
	for e := math.Log10(p.low); e <= math.Log10(p.top)+0.5; e++ {
		d := time.Duration(math.Pow(10, e) * float64(time.Second))
		x := p.x(f, d)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, x, f.Min.Y, x, f.Max.Y)
		c.FillText(aligned(small, draw.XCenter), vg.Point{X: x, Y: f.Min.Y - 8}, decimal(math.Round(d.Seconds()*1e3)/1e3)+" s")
	}
	y := top - recoveryGap/2
	for _, id := range p.c.strategies() {
		st := styleOf(id)
		for i, r := range p.c.of(id) {
			middle := y - recoveryLine/2
			if i == 0 {
				c.FillText(bold(small), vg.Point{X: left, Y: middle}, fitText(bold(small), id, recoveryName))
			}
			c.FillText(aligned(small, draw.XRight), vg.Point{X: f.Min.X - 6, Y: middle}, length(r.TTL))
			p.line(c, f, middle, r, st)
			style := aligned(writing(smallSize, faintInk), draw.XRight)
			if r.Ever() > 0 {
				style = bold(aligned(small, draw.XRight))
			}
			c.FillText(style, vg.Point{X: c.Max.X - margin, Y: middle}, portion(r.Ever()))
			y -= recoveryLine
		}
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, left, y-recoveryGap/2, c.Max.X-margin, y-recoveryGap/2)
		y -= recoveryGap
	}
	y = f.Min.Y - recoveryAxis
	for i, line := range p.foot {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// line draws one lock with one TTL: from the shortest to the longest that ends, thick from
// the 10th to the 90th percentile, and the handover as a hollow mark.
func (p *recoveryPlot) line(c draw.Canvas, f vg.Rectangle, y vg.Length, r cost.Recovery, st style) {
	end := func(d time.Duration) vg.Length {
		if d == cost.Forever {
			return f.Max.X
		}
		return p.x(f, d)
	}
	if r.Ever() < 0.5 {
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 0.9}, end(r.Quantile(0)), y, end(r.Longest()), y)
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 4}, end(r.Quantile(0.1)), y, end(r.Quantile(0.9)), y)
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 2.2, Shape: draw.CircleGlyph{}}, vg.Point{X: end(r.Quantile(0.5)), Y: y})
	}
	if r.Ever() > 0 {
		at := vg.Point{X: f.Max.X - 4, Y: y}
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 1.6}, at.X-10, at.Y, at.X+4, at.Y)
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 1.6}, at.X, at.Y+3, at.X+4, at.Y)
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 1.6}, at.X, at.Y-3, at.X+4, at.Y)
	}
	if r.Handover > 0 {
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 2.6, Shape: draw.RingGlyph{}}, vg.Point{X: p.x(f, r.Handover), Y: y})
	}
}
