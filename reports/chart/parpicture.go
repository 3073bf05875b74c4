package chart

import (
	"io"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/scenarios/study"
)

// PNG draws a dot for each lock and verdict.
func (c *Par) PNG(w io.Writer) error { return c.picture().png(w) }

// SVG draws the same as PNG.
func (c *Par) SVG(w io.Writer) error { return c.picture().svg(w) }

// The dot plot's measures, in points.
const (
	dotRow    vg.Length = 17
	dotBlock  vg.Length = 10 // between two locks
	dotMove   vg.Length = 44 // from one par to the next
	dotHead   vg.Length = 30
	dotWord   vg.Length = 104 // of a verdict with its glyph
	dotRadius vg.Length = 4.2
	dotFoot   vg.Length = 8
)

func (c *Par) picture() picture {
	p := newParPlot(c)
	return picture{width: p.width, height: p.height(), draw: p.draw}
}

type parPlot struct {
	c       *Par
	label   vg.Length // of the locks' names
	width   vg.Length
	top     int // the largest par
	heading heading
	foot    []string
}

func newParPlot(c *Par) *parPlot {
	p := &parPlot{c: c, label: 40, top: c.top()}
	ways := vg.Length(120)
	for _, e := range c.Locks {
		p.label = max(p.label, bold(writing(textSize, ink)).Width(e.ID)+16)
	}
	for i := range c.Pars {
		ways = max(ways, writing(smallSize, ink).Width(parWays("en", &c.Pars[i]))+10)
	}
	p.width = max(2*margin+p.label+dotWord+p.scaleWidth()+ways, 560)
	p.heading = heading{title: c.Title("en"), takeaway: c.Takeaway("en"), width: p.width - 2*margin}
	p.foot = foldText(writing(smallSize, ink), c.legend(), p.width-2*margin)
	return p
}

func (c *Par) legend() string { return say("en", "par.legend", "bounds", c.Bounds("en")) }

// places are the pars from 0 on, "none", and "?" if there is one.
func (p *parPlot) places() int {
	if p.c.Inconclusive() {
		return p.top + 3
	}
	return p.top + 2
}

func (p *parPlot) scaleWidth() vg.Length { return dotMove * vg.Length(p.places()) }

func (p *parPlot) block() vg.Length { return dotRow*vg.Length(len(p.c.Verdicts)) + dotBlock }

func (p *parPlot) body() vg.Length { return dotHead + p.block()*vg.Length(len(p.c.Locks)) }

func (p *parPlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.body() + dotFoot + smallSize*leading*vg.Length(len(p.foot))
}

func (p *parPlot) draw(c draw.Canvas) {
	top := p.heading.draw(c, c.Min.X+margin, c.Max.Y-margin)
	left := c.Min.X + margin + p.label + dotWord
	p.drawScale(c, left, top)
	for i, e := range p.c.Locks {
		y := top - dotHead - p.block()*vg.Length(i)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, c.Min.X+margin, y, c.Max.X-margin, y)
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: c.Min.X + margin, Y: y - dotBlock/2 - dotRow/2}, e.ID)
		for n := range p.c.Verdicts {
			p.drawRow(c, p.c.At(i, n), left, y-dotBlock/2-dotRow*(vg.Length(n)+0.5))
		}
	}
	for i, line := range p.foot {
		c.FillText(writing(smallSize, ink), vg.Point{X: c.Min.X + margin, Y: top - p.body() - dotFoot - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// at is the position of the n-th place of the scale: the pars, then none, then ?.
func (p *parPlot) at(left vg.Length, n int) vg.Length { return left + dotMove*(vg.Length(n)+0.5) }

func (p *parPlot) drawScale(c draw.Canvas, left, top vg.Length) {
	style := aligned(writing(smallSize, ink), draw.XCenter)
	none := p.at(left, p.top+1)
	fillBox(c, box(none-dotMove/2, top-p.body(), left+p.scaleWidth(), top-dotHead), stripe)
	for n := range p.places() {
		x := p.at(left, n)
		name := strconv.Itoa(n)
		switch n {
		case p.top + 1:
			name = say("en", "par.none")
		case p.top + 2:
			name = say("en", "par.unknown")
		}
		c.FillText(style, vg.Point{X: x, Y: top - dotHead + 8}, name)
		if n <= p.top {
			c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, x, top-p.body(), x, top-dotHead)
		}
	}
	c.FillText(writing(smallSize, faintInk), vg.Point{X: left + 8, Y: top - smallSize*leading/2}, say("en", "par.axis"))
}

func (p *parPlot) drawRow(c draw.Canvas, par *study.Par, left, y vg.Length) {
	l := LookOf(par.Verdict)
	chip := box(left-dotWord, y-7, left-dotWord+16, y+7)
	fillBox(c, chip, paints[l.Class].ground)
	c.FillText(aligned(bold(writing(9, paints[l.Class].writing)), draw.XCenter), vg.Point{X: chip.Min.X + 8, Y: y + 0.6}, l.Glyph)
	c.FillText(writing(smallSize, ink), vg.Point{X: chip.Max.X + 6, Y: y}, string(par.Verdict))
	ring := draw.GlyphStyle{Color: faintInk, Radius: dotRadius - 0.8, Shape: draw.RingGlyph{}}
	switch {
	case par.Found:
		x := p.at(left, par.Par)
		c.StrokeLine2(draw.LineStyle{Color: paints[l.Class].ground, Width: 1.4}, p.at(left, 0), y, x, y)
		c.DrawGlyph(draw.GlyphStyle{Color: paints[l.Class].ground, Radius: dotRadius, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
		if !par.Complete {
			c.FillText(writing(smallSize, ink), vg.Point{X: x + dotRadius + 3, Y: y}, say("en", "par.orfewer"))
		}
		c.FillText(writing(smallSize, ink), vg.Point{X: left + p.scaleWidth() + 6, Y: y}, parWays("en", par))
	case par.Complete:
		c.DrawGlyph(ring, vg.Point{X: p.at(left, p.top+1), Y: y})
	default:
		c.FillText(aligned(bold(writing(textSize, ink)), draw.XCenter), vg.Point{X: p.at(left, p.top+2), Y: y}, say("en", "par.unknown"))
	}
}
