package chart

import (
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/scenarios/cost"
)

// PNG draws a line for each lock and way to wait, and a panel for each measure.
func (c *ContendChart) PNG(w io.Writer) error { return c.picture().png(w) }

// SVG draws the same as PNG; its text is outlines.
func (c *ContendChart) SVG(w io.Writer) error { return c.picture().svg(w) }

// The measures of a chart of contentions, in points.
const (
	contendLine vg.Length = 26 // the real server above, the simulation below
	contendName vg.Length = 92
	contendGap  vg.Length = 34
	contendAxis vg.Length = 24
)

// A contendMeasure is one panel: from low to high, with a mark at the middle.
type contendMeasure struct {
	key string
	of  func(m cost.Measures) (low, mark, high float64)
}

var contendMeasures = []contendMeasure{
	{"acquire", func(m cost.Measures) (low, mark, high float64) {
		return m.Acquire.P50 * 1000, m.Acquire.P50 * 1000, m.Acquire.P99 * 1000
	}},
	{"release", func(m cost.Measures) (low, mark, high float64) {
		return m.Release.P50 * 1000, m.Release.P50 * 1000, m.Release.P99 * 1000
	}},
	{"throughput", func(m cost.Measures) (low, mark, high float64) { return m.Throughput, m.Throughput, m.Throughput }},
	{"commands", func(m cost.Measures) (low, mark, high float64) {
		return perRequest(m), perRequest(m), perRequest(m)
	}},
}

type contendPlot struct {
	c       *ContendChart
	lang    string
	heading heading
	foot    []string
}

func (c *ContendChart) picture() picture {
	p := &contendPlot{c: c, lang: c.Lang}
	if p.lang == "" {
		p.lang = "en"
	}
	inner := rateWidth - 2*margin
	p.heading = heading{title: c.Title(p.lang), takeaway: c.Takeaway(p.lang), width: inner}
	for _, line := range []string{say(p.lang, "contend.legend"), c.Assumptions(p.lang), say(p.lang, "contend.note")} {
		p.foot = append(p.foot, foldText(writing(smallSize, ink), line, inner)...)
	}
	height := 2*margin + p.heading.height() + 2*smallSize*leading + p.body() + contendAxis + smallSize*leading*vg.Length(len(p.foot)) + 8
	return picture{width: rateWidth, height: height, draw: p.draw}
}

func (p *contendPlot) body() vg.Length { return contendLine * vg.Length(len(p.c.Results)) }

func (p *contendPlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	top := p.heading.draw(c, left, c.Max.Y-margin) - 2*smallSize*leading
	small := writing(smallSize, ink)
	for i, r := range p.c.Results {
		y := top - contendLine*vg.Length(i)
		c.FillText(bold(small), vg.Point{X: left, Y: y - contendLine/2 + 5}, r.Policy)
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - contendLine/2 - 5}, fitText(small, r.Lock, contendName))
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, left, y, c.Max.X-margin, y)
	}
	width := (rateWidth - 2*margin - contendName) / vg.Length(len(contendMeasures))
	for i, m := range contendMeasures {
		x := left + contendName + width*vg.Length(i)
		p.panel(c, box(x+contendGap/2, top-p.body(), x+width-contendGap/2, top), m)
	}
	y := top - p.body() - contendAxis
	for i, line := range p.foot {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// panel draws one measure on a logarithmic scale.
func (p *contendPlot) panel(c draw.Canvas, f vg.Rectangle, m contendMeasure) {
	small := writing(smallSize, ink)
	c.FillText(bold(small), vg.Point{X: f.Min.X, Y: f.Max.Y + smallSize}, fitText(bold(small), say(p.lang, "contend.panel."+m.key), f.Size().X+contendGap/2))
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range p.c.Results {
		for _, side := range []cost.Measures{r.Real, r.Lab} {
			if a, _, b := m.of(side); a > 0 && !math.IsInf(b, 1) {
				low, high = min(low, a), max(high, b)
			}
		}
	}
	if low > high {
		low, high = 1, 10
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high)+1e-9)
	x := func(v float64) vg.Length {
		return f.Min.X + f.Size().X*vg.Length((math.Log10(max(v, math.Pow(10, low)))-low)/(high-low))
	}
	step := math.Ceil((high - low) / 3)
	for e := low; e <= high; e++ {
		v := math.Pow(10, e)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, x(v), f.Min.Y, x(v), f.Max.Y)
		if math.Mod(e-low, step) == 0 {
			c.FillText(aligned(small, draw.XCenter), vg.Point{X: x(v), Y: f.Min.Y - 9}, number(math.Round(v*1e4)/1e4))
		}
	}
	for i, r := range p.c.Results {
		y := f.Max.Y - contendLine*(vg.Length(i)+0.5)
		for _, side := range []struct {
			of    cost.Measures
			y     vg.Length
			color int
			glyph draw.GlyphDrawer
		}{{r.Real, y + 5, 0, draw.CircleGlyph{}}, {r.Lab, y - 5, 1, draw.RingGlyph{}}} {
			a, mark, b := m.of(side.of)
			if mark <= 0 || math.IsInf(b, 1) {
				continue // nobody got in
			}
			c.StrokeLine2(draw.LineStyle{Color: lineColors[side.color], Width: 1.8}, x(a), side.y, x(b), side.y)
			c.DrawGlyph(draw.GlyphStyle{Color: lineColors[side.color], Radius: 2.6, Shape: side.glyph}, vg.Point{X: x(mark), Y: side.y})
		}
	}
}
