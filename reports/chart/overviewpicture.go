package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
)

// An overviewPlot draws an overview.
type overviewPlot struct {
	g       *Grid
	bands   []Band
	label   vg.Length // width of the names
	head    vg.Length // height of the races
	caption []caption
	keys    []string // race and scenario
	key     vg.Length
}

// The overview's measures, in points.
const (
	markWidth  vg.Length = 23
	markHeight vg.Length = 16
	bandHeight vg.Length = 19
	keyHeight  vg.Length = 12
)

func newOverviewPlot(g *Grid) *overviewPlot {
	p := &overviewPlot{g: g, bands: g.Bands(), caption: captions(g)}
	name := writing(textSize, ink)
	for _, b := range p.bands {
		for _, l := range b.Lines {
			p.label = max(p.label, name.Width(g.lineName(l))+3*cellPad)
		}
	}
	for _, s := range g.Scenarios {
		p.head = max(p.head, bold(writing(9, ink)).Width(s.short())+6)
		key := s.short() + "  " + s.ID
		p.keys = append(p.keys, key)
		p.key = max(p.key, writing(smallSize, ink).Width(key)+14)
	}
	return p
}

func (p *overviewPlot) picture() picture {
	return picture{width: p.width(), height: p.height(), draw: p.draw}
}

func (p *overviewPlot) width() vg.Length {
	return 2*margin + max(p.label+markWidth*vg.Length(len(p.g.Scenarios)), 520)
}

func (p *overviewPlot) heading() heading {
	return heading{title: say(pictured(p.g.Lang), "grid.title"), takeaway: p.g.Headline(pictured(p.g.Lang)), width: p.width() - 2*margin}
}

func (p *overviewPlot) body() vg.Length {
	height := p.head
	for _, b := range p.bands {
		height += bandHeight + markHeight*vg.Length(len(b.Lines))
	}
	return height
}

// keyRows is how many lines the names of the races take.
func (p *overviewPlot) keyRows() int {
	perRow := max(1, int((p.width()-2*margin)/p.key))
	return (len(p.keys) + perRow - 1) / perRow
}

// shared are the lines that say which locks share one.
func (p *overviewPlot) shared() (text []string) {
	style := writing(smallSize, ink)
	for _, b := range p.bands {
		for _, l := range b.Lines {
			if len(l.Same) > 0 {
				text = append(text, foldText(style, say(pictured(p.g.Lang), "grid.caption.also", "locks", p.g.lineName(l), "others", p.g.names(l.Same)), p.width()-2*margin)...)
			}
		}
	}
	return text
}

func (p *overviewPlot) height() vg.Length {
	return 2*margin + p.heading().height() + p.body() + 14 +
		keyHeight*vg.Length(p.keyRows()+len(p.shared())) + 20 + captionHeight*vg.Length(len(p.caption))
}

func (p *overviewPlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	y := p.heading().draw(c, left, c.Max.Y-margin)
	for j, s := range p.g.Scenarios {
		up := bold(writing(9, ink))
		up.Rotation = math.Pi / 2
		x := left + p.label + markWidth*(vg.Length(j)+0.5)
		c.FillText(up, vg.Point{X: x, Y: y - p.head + 4}, s.short())
	}
	y -= p.head
	for _, b := range p.bands {
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: left, Y: y - bandHeight*0.6}, text.FamilyTitle(b.Group, pictured(p.g.Lang)))
		y -= bandHeight
		for _, l := range b.Lines {
			p.drawLine(c, l, left, y)
			y -= markHeight
		}
	}
	y -= 14
	for _, text := range p.shared() {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - keyHeight/2}, text)
		y -= keyHeight
	}
	y -= 6
	rows := p.keyRows()
	for n, key := range p.keys {
		at := vg.Point{X: left + p.key*vg.Length(n/rows), Y: y - keyHeight*(vg.Length(n%rows)+0.5)}
		c.FillText(writing(smallSize, ink), at, key)
	}
	drawCaptions(c, p.caption, left, y-keyHeight*vg.Length(rows)-14)
}

func (p *overviewPlot) drawLine(c draw.Canvas, l Line, left, top vg.Length) {
	middle := top - markHeight/2
	c.FillText(writing(textSize, ink), vg.Point{X: left + cellPad, Y: middle}, p.g.lineName(l))
	for j := range p.g.Scenarios {
		cell := p.g.cell(l.First, j)
		look := LookOf(cell.Word())
		x := left + p.label + markWidth*vg.Length(j)
		r := inset(box(x, top-markHeight, x+markWidth, top), 0.75)
		fillBox(c, r, paints[look.Class].ground)
		text := aligned(bold(writing(9, paints[look.Class].writing)), draw.XCenter)
		c.FillText(text, vg.Point{X: x + markWidth/2, Y: middle}, look.Glyph)
		switch {
		case cell.Uncontracted:
			dashBox(c, inset(r, 0.6), black, 1.2)
		case cell.Surprising():
			strokeBox(c, inset(r, 0.6), black, 2.2)
		}
	}
}
