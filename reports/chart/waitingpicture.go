package chart

import (
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/scenarios/cost"
)

// PNG draws a panel for each measure, against the number of clients.
func (c *WaitingChart) PNG(w io.Writer) error { return c.picture().png(w) }

// SVG draws the same as PNG; its text is outlines.
func (c *WaitingChart) SVG(w io.Writer) error { return c.picture().svg(w) }

const waitingPanel vg.Length = 168

// A waitingMeasure is one panel.
type waitingMeasure struct {
	key    string // of its title
	of     func(r cost.WaitingResult) (float64, bool)
	linear bool // from 0 to 1; otherwise logarithmic
}

var waitingMeasures = []waitingMeasure{
	{"handover", func(r cost.WaitingResult) (float64, bool) { return r.Handover * 1000, true }, false},
	{"commands", func(r cost.WaitingResult) (float64, bool) { return r.Commands, true }, false},
	{"jain", func(r cost.WaitingResult) (float64, bool) {
		if r.Jain == nil {
			return 0, false
		}
		return *r.Jain, true
	}, true},
	{"overtaken", func(r cost.WaitingResult) (float64, bool) { return float64(r.Overtaken), r.Overtaken > 0 }, false},
	{"entry", func(r cost.WaitingResult) (float64, bool) { return r.PerEntry, true }, false},
	{"herd", func(r cost.WaitingResult) (float64, bool) { return r.Herd, r.Herd > 0 }, false},
}

type waitingPlot struct {
	c       *WaitingChart
	lang    string
	heading heading
	foot    []string
	last    float64 // largest number of clients
}

func (c *WaitingChart) picture() picture {
	p := &waitingPlot{c: c, lang: c.Lang, last: 2}
	if p.lang == "" {
		p.lang = "en"
	}
	inner := rateWidth - 2*margin
	p.heading = heading{title: c.Title(p.lang), takeaway: c.Takeaway(p.lang), width: inner}
	small := writing(smallSize, ink)
	p.foot = foldText(small, c.Assumptions(p.lang), inner)
	for _, id := range c.policies() {
		p.foot = append(p.foot, foldText(small, say(p.lang, "waiting.policy", "id", id, "what", say(p.lang, "policy."+id)), inner)...)
	}
	for _, note := range append(c.notes(p.lang), say(p.lang, "waiting.note")) {
		p.foot = append(p.foot, foldText(small, note, inner)...)
	}
	for _, r := range c.Results {
		p.last = max(p.last, float64(r.Clients))
	}
	height := 2*margin + p.heading.height() + 2*smallSize*leading + waitingPanel*vg.Length((len(waitingMeasures)+1)/2) + smallSize*leading*vg.Length(len(p.foot)) + 8
	return picture{width: rateWidth, height: height, draw: p.draw}
}

func (p *waitingPlot) style(i int) style {
	return style{lineColors[i%len(lineColors)], markers[i%len(markers)], dashes[i%len(dashes)]}
}

func (p *waitingPlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	top := p.heading.draw(c, left, c.Max.Y-margin)
	small := writing(smallSize, ink)
	x := left
	for i, id := range p.c.policies() {
		st, y := p.style(i), top-smallSize*leading/2
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 1.8, Dashes: st.dash}, x, y, x+20, y)
		c.DrawGlyph(draw.GlyphStyle{Color: st.color, Radius: 2.6, Shape: st.marker}, vg.Point{X: x + 10, Y: y})
		c.FillText(small, vg.Point{X: x + 24, Y: y}, id)
		x += 24 + small.Width(id) + 11
	}
	top -= 2 * smallSize * leading
	width := (rateWidth - 2*margin) / 2
	for i, m := range waitingMeasures {
		px, py := left+width*vg.Length(i%2), top-waitingPanel*vg.Length(i/2)
		p.panel(c, box(px+rateLeft, py-waitingPanel+rateBelow, px+width-8, py-20), m)
	}
	y := top - waitingPanel*vg.Length((len(waitingMeasures)+1)/2) - 8
	for i, line := range p.foot {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

func (p *waitingPlot) panel(c draw.Canvas, f vg.Rectangle, m waitingMeasure) {
	small := writing(smallSize, ink)
	c.FillText(bold(writing(textSize, ink)), vg.Point{X: f.Min.X - rateLeft, Y: f.Max.Y + 11}, say(p.lang, "waiting.panel."+m.key))
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range p.c.Results {
		if v, ok := m.of(r); ok && !r.Skipped && v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 1, 10
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high)+1e-9)
	if high <= low {
		high = low + 1
	}
	y := func(v float64) vg.Length {
		share := v
		if !m.linear {
			share = (math.Log10(v) - low) / (high - low)
		}
		return f.Min.Y + f.Size().Y*vg.Length(share)
	}
	grid := []float64{0, 0.5, 1}
	if !m.linear {
		grid = nil
		for e := low; e <= high; e++ {
			grid = append(grid, math.Pow(10, e))
		}
	}
	for _, v := range grid {
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, f.Min.X, y(v), f.Max.X, y(v))
		c.FillText(aligned(small, draw.XRight), vg.Point{X: f.Min.X - 4, Y: y(v)}, number(math.Round(v*1e4)/1e4))
	}
	x := func(n int) vg.Length {
		return f.Min.X + f.Size().X*vg.Length(math.Log(float64(n)/2)/math.Log(max(p.last/2, 2)))
	}
	var sizes []int
	for _, r := range p.c.Results {
		if !slices.Contains(sizes, r.Clients) {
			sizes = append(sizes, r.Clients)
			c.FillText(aligned(small, draw.XCenter), vg.Point{X: x(r.Clients), Y: f.Min.Y - 9}, strconv.Itoa(r.Clients))
		}
	}
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: f.Max.X, Y: f.Min.Y - 20}, say(p.lang, "waiting.axis"))
	for i, id := range p.c.policies() {
		st := p.style(i)
		var line []vg.Point
		for _, r := range p.c.Results {
			if v, ok := m.of(r); r.Policy == id && ok && !r.Skipped {
				line = append(line, vg.Point{X: x(r.Clients), Y: y(v)})
			}
		}
		c.StrokeLines(draw.LineStyle{Color: st.color, Width: 1.5, Dashes: st.dash}, line)
		for _, at := range line {
			c.DrawGlyph(draw.GlyphStyle{Color: st.color, Radius: 2.2, Shape: st.marker}, at)
		}
	}
}
