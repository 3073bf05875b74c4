package chart

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/scenarios/study"
)

// PNG draws a panel for each lock, all on one scale.
func (s *Sweep) PNG(w io.Writer) error { return s.picture().png(w) }

// SVG draws the same as PNG; its text is outlines.
func (s *Sweep) SVG(w io.Writer) error { return s.picture().svg(w) }

// The measures of a sweep, in points.
const (
	sweepColumns           = 3
	sweepPanel   vg.Length = 150 // height of a panel
	sweepMap     vg.Length = 190 // of one with two settings
	sweepTop     vg.Length = 20  // above its axes
	sweepLeft    vg.Length = 34  // beside them
	sweepBelow   vg.Length = 30
)

type sweepPlot struct {
	s       *Sweep
	lang    string
	heading heading
	foot    []string
	panel   vg.Length
	columns int
	min     [2]float64
	max     [2]float64
	shown   []*study.SweepSeries // those with points
}

func (s *Sweep) picture() picture {
	p := newSweepPlot(s)
	return picture{width: rateWidth, height: p.height(), draw: p.draw}
}

func newSweepPlot(s *Sweep) *sweepPlot {
	p := &sweepPlot{s: s, lang: s.Lang, panel: sweepPanel}
	for i := range s.Series {
		if len(s.Series[i].Points) > 0 {
			p.shown = append(p.shown, &s.Series[i])
		}
	}
	p.columns = max(1, min(sweepColumns, len(p.shown)))
	if p.lang == "" {
		p.lang = "en"
	}
	inner := rateWidth - 2*margin
	p.heading = heading{title: s.Title(p.lang), takeaway: s.Takeaway(p.lang), width: inner}
	legend := "sweep.legend"
	if len(s.Order.Axes) == 2 {
		p.panel, legend = sweepMap, "sweep.legend.map"
		p.columns = min(p.columns, 2)
	}
	small := writing(smallSize, ink)
	p.foot = append(foldText(small, say(p.lang, legend), inner), foldText(small, s.Assumptions(p.lang), inner)...)
	for _, one := range s.Series {
		if one.NA != "" {
			p.foot = append(p.foot, foldText(small, say(p.lang, "sweep.na", "lock", one.Strategy, "why", say(p.lang, "na."+string(one.NA))), inner)...)
		}
	}
	for i, a := range s.Order.Axes {
		p.min[i], p.max[i] = slices.Min(a.Values), slices.Max(a.Values)
		if p.min[i] == p.max[i] {
			p.min[i], p.max[i] = p.min[i]-1, p.max[i]+1
		}
	}
	return p
}

func (p *sweepPlot) rows() int { return (len(p.shown) + p.columns - 1) / p.columns }

func (p *sweepPlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.panel*vg.Length(p.rows()) + smallSize*leading*vg.Length(len(p.foot)) + 6
}

func (p *sweepPlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	top := p.heading.draw(c, left, c.Max.Y-margin)
	width := (rateWidth - 2*margin) / vg.Length(p.columns)
	for i, one := range p.shown {
		x, y := left+width*vg.Length(i%p.columns), top-p.panel*vg.Length(i/p.columns)
		frame := box(x+sweepLeft, y-p.panel+sweepBelow, x+width-8, y-sweepTop)
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: frame.Min.X, Y: frame.Max.Y + 10}, one.Strategy)
		if len(p.s.Order.Axes) == 2 {
			p.heat(c, frame, one)
		} else {
			p.curve(c, frame, one, styleOf(one.Strategy))
		}
	}
	y := top - p.panel*vg.Length(p.rows()) - 6
	for i, line := range p.foot {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// at is the position of a value of an axis between two edges.
func (p *sweepPlot) at(axis int, v float64, from, to vg.Length) vg.Length {
	return from + (to-from)*vg.Length((v-p.min[axis])/(p.max[axis]-p.min[axis]))
}

// ticks are values of an axis to label, with their labels.
func (p *sweepPlot) ticks(axis int, n int) (values []float64, labels []string) {
	a := p.s.Order.Axes[axis]
	for _, t := range (plot.DefaultTicks{}).Ticks(p.min[axis], p.max[axis]) {
		if t.Label != "" && (a.Setting.Unit != study.Number || t.Value == math.Trunc(t.Value)) {
			values = append(values, t.Value)
			labels = append(labels, a.Format(t.Value))
		}
	}
	for len(values) > n {
		var v []float64
		var l []string
		for i := 0; i < len(values); i += 2 {
			v, l = append(v, values[i]), append(l, labels[i])
		}
		values, labels = v, l
	}
	return values, labels
}

func (p *sweepPlot) axisX(c draw.Canvas, f vg.Rectangle) {
	center := aligned(writing(smallSize-0.5, ink), draw.XCenter)
	values, labels := p.ticks(0, 5)
	for i, v := range values {
		x := p.at(0, v, f.Min.X, f.Max.X)
		c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.5}, x, f.Min.Y, x, f.Min.Y-3)
		c.FillText(center, vg.Point{X: x, Y: f.Min.Y - 8}, labels[i])
	}
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: f.Max.X, Y: f.Min.Y - 19}, p.s.Order.Axes[0].Name())
}

func (p *sweepPlot) curve(c draw.Canvas, f vg.Rectangle, one *study.SweepSeries, st style) {
	y := func(share float64) vg.Length { return f.Min.Y + f.Size().Y*vg.Length(share) }
	for _, share := range []float64{0, 0.5, 1} {
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, f.Min.X, y(share), f.Max.X, y(share))
		c.FillText(aligned(writing(smallSize-0.5, ink), draw.XRight), vg.Point{X: f.Min.X - 4, Y: y(share)}, percent(share)+" %")
	}
	p.axisX(c, f)
	n := len(one.Points)
	area, line := make([]vg.Point, 2*n), make([]vg.Point, n)
	for i, point := range one.Points {
		lo, hi := study.Wilson(point.K, point.N)
		x := p.at(0, point.At[0], f.Min.X, f.Max.X)
		area[i], area[2*n-1-i] = vg.Point{X: x, Y: y(lo)}, vg.Point{X: x, Y: y(hi)}
		line[i] = vg.Point{X: x, Y: y(pointShare(point))}
	}
	pale := st.color
	pale.A = 0x48
	c.FillPolygon(pale, area)
	c.StrokeLines(draw.LineStyle{Color: st.color, Width: 1.6, Dashes: st.dash}, line)
	for _, at := range line {
		c.DrawGlyph(draw.GlyphStyle{Color: st.color, Radius: 1.8, Shape: st.marker}, at)
	}
}

// heat draws a cell for each point. A point at which nothing was seen is empty.
func (p *sweepPlot) heat(c draw.Canvas, f vg.Rectangle, one *study.SweepSeries) {
	xs, ys := p.s.Order.Axes[0].Values, p.s.Order.Axes[1].Values
	w, h := f.Size().X/vg.Length(len(xs)), f.Size().Y/vg.Length(len(ys))
	for i, x := range xs {
		for j, y := range ys {
			point, ok := pointAt(*one, []float64{x, y})
			if !ok {
				continue
			}
			cell := box(f.Min.X+w*vg.Length(i), f.Min.Y+h*vg.Length(j), f.Min.X+w*vg.Length(i+1), f.Min.Y+h*vg.Length(j+1))
			share := pointShare(point)
			ground, style := heatOf(share), aligned(writing(smallSize-2, ink), draw.XCenter)
			if share > 0 {
				fillBox(c, cell, ground)
				style.Color = black
			}
			if share > 0.55 {
				style.Color = white
			}
			if label := percent(share); share > 0 && style.Width(label) < w-1 && h > 7 {
				c.FillText(style, vg.Point{X: (cell.Min.X + cell.Max.X) / 2, Y: (cell.Min.Y + cell.Max.Y) / 2}, label)
			}
		}
	}
	strokeBox(c, f, hairline, 0.5)
	center, right := aligned(writing(smallSize-0.5, ink), draw.XCenter), aligned(writing(smallSize-0.5, ink), draw.XRight)
	middle := func(i int, size, from vg.Length) vg.Length { return from + size*(vg.Length(i)+0.5) }
	for i := 0; i < len(xs); i += (len(xs) + 5) / 6 {
		c.FillText(center, vg.Point{X: middle(i, w, f.Min.X), Y: f.Min.Y - 8}, p.s.Order.Axes[0].Format(xs[i]))
	}
	for i := 0; i < len(ys); i += (len(ys) + 7) / 8 {
		c.FillText(right, vg.Point{X: f.Min.X - 4, Y: middle(i, h, f.Min.Y)}, p.s.Order.Axes[1].Format(ys[i]))
	}
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: f.Max.X, Y: f.Min.Y - 19}, p.s.Order.Axes[0].Name())
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: f.Max.X, Y: f.Max.Y + 10}, "↑ "+p.s.Order.Axes[1].Name())
}

// heatOf is a colour that grows darker with a share: one hue, so that lightness tells.
func heatOf(share float64) color.NRGBA {
	from, to := color.NRGBA{0xfd, 0xe0, 0xc5, 0xff}, color.NRGBA{0x7a, 0x1f, 0x00, 0xff}
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff}
}
