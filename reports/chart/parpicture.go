package chart

import (
	"io"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/scenarios/study"
)

// PNG draws, for each lock and fault, the harms that the fault can do.
func (c *Par) PNG(w io.Writer) error { return c.picture().png(w) }

// SVG draws the same as PNG.
func (c *Par) SVG(w io.Writer) error { return c.picture().svg(w) }

// The measures of the chart, in points.
const (
	parRow  vg.Length = 26
	parHead vg.Length = 24
	parChip vg.Length = 15 // a harm
	parGap  vg.Length = 14 // between two faults
	parFoot vg.Length = 12
)

func (c *Par) picture() picture {
	p := newParPlot(c)
	return picture{width: p.width, height: p.height(), draw: p.draw}
}

type parPlot struct {
	c       *Par
	label   vg.Length // of the locks' names
	column  vg.Length // of a fault
	width   vg.Length
	heading heading
	caption []caption
	foot    []string
}

func newParPlot(c *Par) *parPlot {
	lang := pictured(c.Lang)
	p := &parPlot{c: c, label: 40, column: parChip*vg.Length(len(c.Verdicts)) + parGap}
	for _, e := range c.Locks {
		p.label = max(p.label, bold(writing(textSize, ink)).Width(e.ID)+16, writing(smallSize, ink).Width(serversNote(lang, e))+16)
	}
	for _, b := range c.Budgets {
		p.column = max(p.column, bold(writing(textSize, ink)).Width(faultsOf(b))+parGap)
	}
	p.width = max(2*margin+p.label+p.column*vg.Length(len(c.Budgets)), 560)
	p.heading = heading{title: c.Title(lang), takeaway: c.Takeaway(lang), width: p.width - 2*margin}
	for _, w := range c.Verdicts {
		p.caption = append(p.caption, caption{look: LookOf(w), word: string(w), means: reports.Meaning(w, lang)})
	}
	p.foot = foldText(writing(smallSize, ink), c.legend(), p.width-2*margin)
	if note := c.Note(lang); note != "" {
		p.foot = append(foldText(writing(smallSize, ink), note, p.width-2*margin), p.foot...)
	}
	return p
}

func (c *Par) legend() string {
	lang := pictured(c.Lang)
	return say(lang, "par.legend", "bounds", c.Bounds(lang))
}

func (p *parPlot) body() vg.Length { return parHead + parRow*vg.Length(len(p.c.Locks)) }

func (p *parPlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.body() + 2*parFoot + captionHeight*vg.Length(len(p.caption)) + smallSize*leading*vg.Length(len(p.foot))
}

func (p *parPlot) draw(c draw.Canvas) {
	lang := pictured(p.c.Lang)
	left, top := c.Min.X+margin, p.heading.draw(c, c.Min.X+margin, c.Max.Y-margin)
	for k, b := range p.c.Budgets {
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: p.at(left, k), Y: top - parHead/2}, faultsOf(b))
	}
	for l, e := range p.c.Locks {
		y := top - parHead - parRow*(vg.Length(l)+0.5)
		fillBox(c, box(left, y-parRow/2, c.Max.X-margin, y+parRow/2), ground(l))
		name := y
		if note := serversNote(lang, e); note != "" {
			name += smallSize * leading / 2
			c.FillText(writing(smallSize, faintInk), vg.Point{X: left + 4, Y: y - textSize*leading/2}, note)
		}
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: left + 4, Y: name}, e.ID)
		for k := range p.c.Budgets {
			for n := range p.c.Verdicts {
				drawPar(c, lang, p.c.Of(l, k, n), p.at(left, k)+parChip*(vg.Length(n)+0.5), y)
			}
		}
	}
	y := top - p.body() - parFoot
	drawCaptions(c, p.caption, left, y)
	y -= captionHeight*vg.Length(len(p.caption)) + parFoot/2
	for i, line := range p.foot {
		c.FillText(writing(smallSize, ink), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// at is where the column of the k-th fault begins.
func (p *parPlot) at(left vg.Length, k int) vg.Length {
	return left + p.label + p.column*vg.Length(k)
}

// drawPar draws one harm: a chip where it can happen, with its par unless that is 1; a dot
// where it was proved impossible.
func drawPar(c draw.Canvas, lang string, par *study.Par, x, y vg.Length) {
	l := LookOf(par.Verdict)
	switch {
	case par.Found:
		fillBox(c, box(x-parChip/2+0.7, y-8, x+parChip/2-0.7, y+8), paints[l.Class].ground)
		glyph := l.Glyph
		if par.Par != 1 {
			glyph += strconv.Itoa(par.Par)
		}
		c.FillText(aligned(bold(writing(9, paints[l.Class].writing)), draw.XCenter), vg.Point{X: x, Y: y + 0.6}, glyph)
	case par.Complete:
		c.DrawGlyph(draw.GlyphStyle{Color: faintInk, Radius: 1.1, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
	default:
		c.FillText(aligned(writing(textSize, faintInk), draw.XCenter), vg.Point{X: x, Y: y}, say(lang, "par.unknown"))
	}
}
