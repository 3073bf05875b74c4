package chart

import (
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// PNG draws the share of races survived against server commands, and against latency in
// round trips: a column for each cost that some lock has. Locks at one place share a
// label; the key below lists them.
func (c *PriceChart) PNG(w io.Writer) error { return c.picture().png(w) }

// SVG draws the same as PNG; its text is outlines.
func (c *PriceChart) SVG(w io.Writer) error { return c.picture().svg(w) }

// The measures of a chart of prices, in points.
const (
	priceHead   vg.Length = 30 // of a panel: what its columns are
	priceFoot   vg.Length = 24
	priceLine   vg.Length = 9.5 // between two labels
	priceLeft   vg.Length = 34
	priceLeader vg.Length = 14 // from a mark to its label
	priceRadius vg.Length = 3
)

type pricePlot struct {
	c       *PriceChart
	lang    string
	heading heading
	panels  [2]pricePanel
	key     []string
	legend  []string
	foot    []string
	least   float64 // share at the bottom
	most    float64 // and at the top
}

// A pricePanel is one measure of cost.
type pricePanel struct {
	title   string
	columns [][]*spot // by cost
	height  vg.Length // of the scale
}

func (c *PriceChart) picture() picture {
	p := newPricePlot(c)
	return picture{width: rateWidth, height: p.height(), draw: p.draw}
}

func newPricePlot(c *PriceChart) *pricePlot {
	p := &pricePlot{c: c, lang: c.Lang, least: 1}
	if p.lang == "" {
		p.lang = "en"
	}
	inner := rateWidth - 2*margin
	p.heading = heading{title: c.Title(p.lang), takeaway: c.Takeaway(p.lang), width: inner}
	p.panels = [2]pricePanel{
		newPricePanel(say(p.lang, "price.axis.commands"), c.spots(byCommands)),
		newPricePanel(say(p.lang, "price.axis.roundtrips"), c.spots(byRoundTrips)),
	}
	small := writing(smallSize, ink)
	for _, s := range c.spots(byCommands) {
		p.least, p.most = min(p.least, s.share), max(p.most, s.share)
		if len(s.prices) > 1 {
			p.key = append(p.key, foldText(small, p.label(s)+": "+s.names(p.lang, len(s.prices)), inner)...)
		}
	}
	p.least, p.most = math.Floor(p.least*10)/10, math.Ceil(p.most*10)/10
	if p.most <= p.least {
		p.least, p.most = 0, 1
	}
	p.legend = c.families()
	p.foot = append(foldText(small, c.Assumptions(p.lang), inner), foldText(small, say(p.lang, "price.legend"), inner)...)
	return p
}

func newPricePanel(title string, spots []*spot) pricePanel {
	out := pricePanel{title: title, height: 120}
	for _, s := range spots {
		if n := len(out.columns); n > 0 && out.columns[n-1][0].cost == s.cost {
			out.columns[n-1] = append(out.columns[n-1], s)
		} else {
			out.columns = append(out.columns, []*spot{s})
		}
	}
	for _, column := range out.columns {
		out.height = max(out.height, priceLine*vg.Length(len(column)+2))
	}
	return out
}

// label names the first lock of a spot, and how many more there are.
func (p *pricePlot) label(s *spot) string {
	label := s.prices[0].Strategy
	if more := len(s.prices) - 1; more > 0 {
		label += " +" + strconv.Itoa(more)
	}
	return label
}

func (p *pricePlot) height() vg.Length {
	height := 2*margin + p.heading.height() + 2*smallSize*leading + smallSize*leading*vg.Length(len(p.key)+len(p.foot)) + 12
	for _, panel := range p.panels {
		height += priceHead + panel.height + priceFoot
	}
	return height
}

func (p *pricePlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	top := p.heading.draw(c, left, c.Max.Y-margin)
	small := writing(smallSize, ink)
	x := left
	for _, f := range p.legend {
		p.glyph(c, f, vg.Point{X: x + 5, Y: top - smallSize*leading/2})
		c.FillText(small, vg.Point{X: x + 12, Y: top - smallSize*leading/2}, f)
		x += small.Width(f) + 22
	}
	top -= 2 * smallSize * leading
	for _, panel := range p.panels {
		p.panel(c, panel, box(left+priceLeft, top-priceHead-panel.height, c.Max.X-margin, top-priceHead))
		top -= priceHead + panel.height + priceFoot
	}
	for i, line := range append(slices.Clone(p.key), p.foot...) {
		style := small
		if i >= len(p.key) {
			style = writing(smallSize, faintInk)
		}
		c.FillText(style, vg.Point{X: left, Y: top - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// glyph is the mark of a family.
func (p *pricePlot) glyph(c draw.Canvas, family string, at vg.Point) {
	i := slices.Index(p.legend, family)
	c.DrawGlyph(draw.GlyphStyle{Color: lineColors[i%len(lineColors)], Radius: priceRadius, Shape: markers[i%len(markers)]}, at)
}

func (p *pricePlot) panel(c draw.Canvas, panel pricePanel, f vg.Rectangle) {
	y := func(share float64) vg.Length {
		return f.Min.Y + f.Size().Y*vg.Length((share-p.least)/(p.most-p.least))
	}
	c.FillText(bold(writing(textSize, ink)), vg.Point{X: f.Min.X - priceLeft, Y: f.Max.Y + 16}, panel.title)
	for share := p.least; share < p.most+0.001; share += 0.1 {
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, f.Min.X, y(share), f.Max.X, y(share))
		c.FillText(aligned(writing(smallSize, ink), draw.XRight), vg.Point{X: f.Min.X - 4, Y: y(share)}, percent(math.Round(share*100)/100)+" %")
	}
	width := f.Size().X / vg.Length(max(len(panel.columns), 1))
	x := func(i int) vg.Length { return f.Min.X + width*vg.Length(i) + 8 }
	p.border(c, f, panel, x, y)
	for i, column := range panel.columns {
		c.FillText(aligned(writing(smallSize, ink), draw.XCenter), vg.Point{X: x(i), Y: f.Min.Y - 10}, decimal(math.Round(column[0].cost*10)/10))
		var at []vg.Length
		for _, s := range column {
			at = append(at, y(s.share))
		}
		for n, place := range spread(at, priceLine, f.Min.Y, f.Max.Y) {
			s := column[n]
			style := writing(smallSize-0.5, ink)
			if s.efficient {
				style = bold(style)
			}
			label := fitText(style, p.label(s), width-priceLeader-6)
			c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.7}, x(i), at[n], x(i)+priceLeader-2, place)
			fillBox(c, box(x(i)+priceLeader-1, place-4.5, x(i)+priceLeader+style.Width(label)+1, place+4.5), white)
			c.FillText(style, vg.Point{X: x(i) + priceLeader, Y: place}, label)
		}
		for n, s := range column {
			p.glyph(c, string(s.prices[0].Family), vg.Point{X: x(i), Y: at[n]})
		}
	}
}

// border joins the efficient spots by steps.
func (p *pricePlot) border(c draw.Canvas, f vg.Rectangle, panel pricePanel, x func(int) vg.Length, y func(float64) vg.Length) {
	var line []vg.Point
	for i, column := range panel.columns {
		for _, s := range column {
			if !s.efficient {
				continue
			}
			if len(line) > 0 {
				line = append(line, vg.Point{X: x(i), Y: line[len(line)-1].Y})
			}
			line = append(line, vg.Point{X: x(i), Y: y(s.share)})
		}
	}
	if len(line) > 0 {
		line = append(line, vg.Point{X: f.Max.X, Y: line[len(line)-1].Y})
		c.StrokeLines(draw.LineStyle{Color: green, Width: 1.2, Dashes: []vg.Length{4, 2}}, line)
	}
}

// spread moves falling positions apart, so that they are at least a gap from each other,
// as little as that takes, and keeps them between low and high if there is room.
func spread(at []vg.Length, gap, low, high vg.Length) []vg.Length {
	type cluster struct {
		sum vg.Length // of the wanted positions of its top
		n   int
	}
	top := func(c cluster) vg.Length { return c.sum / vg.Length(c.n) }
	var all []cluster
	for _, y := range at {
		all = append(all, cluster{y, 1})
		for n := len(all); n > 1 && top(all[n-2])-gap*vg.Length(all[n-2].n) < top(all[n-1]); n = len(all) {
			a, b := all[n-2], all[n-1]
			all = append(all[:n-2], cluster{a.sum + b.sum + gap*vg.Length(a.n*b.n), a.n + b.n})
		}
	}
	var out []vg.Length
	for _, c := range all {
		first := min(max(top(c), low+gap*vg.Length(c.n-1)), high)
		for i := range c.n {
			out = append(out, first-gap*vg.Length(i))
		}
	}
	return out
}
