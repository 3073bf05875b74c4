package chart

import (
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/simulator/verdict"
)

// PNG draws the grid for slides and articles.
func (g *Grid) PNG(w io.Writer) error { return g.picture().png(w) }

// SVG draws the grid for pages and print.
func (g *Grid) SVG(w io.Writer) error { return g.picture().svg(w) }

// The grid's measures, in points.
const (
	cellHeight vg.Length = 30
	cellPad    vg.Length = 7
	minCell    vg.Length = 74
	maxLabel   vg.Length = 280
)

func (g *Grid) picture() picture {
	if g.Many() {
		return newOverviewPlot(g).picture()
	}
	p := newGridPlot(g)
	return picture{width: p.width(), height: p.height(), draw: p.drawPage}
}

// A gridPlot draws the cells of a grid with their heads. It is a plot.Plotter
// that fills its whole canvas: it has no axes, since both sides are names.
type gridPlot struct {
	g       *Grid
	race    vg.Length // width of the race ids
	label   vg.Length // width of the scenario names, race ids included
	cell    vg.Length // width of a cell
	heads   [][]string
	head    vg.Length // height of the strategy names
	caption []caption
}

var _ plot.Plotter = (*gridPlot)(nil)

func newGridPlot(g *Grid) *gridPlot {
	p := &gridPlot{g: g, cell: minCell, label: 60}
	for _, s := range g.Scenarios {
		p.race = max(p.race, bold(writing(textSize, ink)).Width(s.Race)+cellPad)
		p.label = max(p.label, bold(writing(textSize, ink)).Width(s.ID), writing(smallSize, ink).Width(s.Title(pictured(g.Lang))))
	}
	p.label = p.race + min(p.label, maxLabel) + 2*cellPad
	for i, s := range g.Strategies {
		names := breakName(s.ID, maxHead)
		p.heads = append(p.heads, names)
		p.head = max(p.head, textSize*leading*vg.Length(len(names)))
		for _, name := range names {
			p.cell = max(p.cell, bold(writing(textSize, ink)).Width(name)+2*cellPad)
		}
		for j := range g.Scenarios {
			p.cell = max(p.cell, p.textWidth(g.cell(i, j)))
		}
	}
	p.head += smallSize*leading + 6
	p.caption = captions(g)
	return p
}

const glyphWidth vg.Length = 12

func (p *gridPlot) textWidth(c *Cell) vg.Length {
	return glyphWidth + bold(writing(9, ink)).Width(c.Label()) + 2*cellPad
}

func (p *gridPlot) heading() heading {
	return heading{title: say(pictured(p.g.Lang), "grid.title"), takeaway: p.g.Headline(pictured(p.g.Lang)), width: p.width() - 2*margin}
}

func (p *gridPlot) width() vg.Length {
	return 2*margin + max(p.label+p.cell*vg.Length(len(p.g.Strategies)), 420)
}

func (p *gridPlot) height() vg.Length {
	return 2*margin + p.heading().height() + p.body() + 14 + captionHeight*vg.Length(len(p.caption))
}

// body is the height of heads and cells.
func (p *gridPlot) body() vg.Length { return p.head + cellHeight*vg.Length(len(p.g.Scenarios)) }

func (p *gridPlot) drawPage(c draw.Canvas) {
	top := p.heading().draw(c, c.Min.X+margin, c.Max.Y-margin)
	pl := plot.New()
	pl.HideAxes()
	pl.X.Padding, pl.Y.Padding = 0, 0
	pl.Add(p)
	pl.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: box(c.Min.X+margin, top-p.body(), c.Max.X-margin, top)})
	drawCaptions(c, p.caption, c.Min.X+margin, top-p.body()-14)
}

// Plot implements plot.Plotter.
func (p *gridPlot) Plot(c draw.Canvas, _ *plot.Plot) {
	for i := range p.g.Strategies {
		p.drawHead(c, i)
	}
	for j := range p.g.Scenarios {
		p.drawLabel(c, j)
		for i := range p.g.Strategies {
			p.drawCell(c, i, j)
		}
	}
	for i := range p.g.Strategies { // borders last, so that no neighbour paints over them
		for j := range p.g.Scenarios {
			switch cell := p.g.cell(i, j); {
			case cell.Uncontracted:
				dashBox(c, inset(p.place(c, i, j), 1.4), black, 1.4)
			case cell.Surprising():
				strokeBox(c, inset(p.place(c, i, j), 1.4), black, 2.8)
			}
		}
	}
}

// place is the rectangle of the cell of strategy i in scenario j.
func (p *gridPlot) place(c draw.Canvas, i, j int) vg.Rectangle {
	left := c.Min.X + p.label + p.cell*vg.Length(i)
	top := c.Max.Y - p.head - cellHeight*vg.Length(j)
	return box(left, top-cellHeight, left+p.cell, top)
}

func inset(r vg.Rectangle, by vg.Length) vg.Rectangle {
	return box(r.Min.X+by, r.Min.Y+by, r.Max.X-by, r.Max.Y-by)
}

func (p *gridPlot) drawHead(c draw.Canvas, i int) {
	x := p.place(c, i, 0).Min.X + cellPad
	y := c.Max.Y - p.head + 6 + smallSize*leading/2
	c.FillText(writing(smallSize, faintInk), vg.Point{X: x, Y: y}, p.g.Strategies[i].Article)
	y += (smallSize + textSize) * leading / 2
	for n := len(p.heads[i]) - 1; n >= 0; n-- {
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: x, Y: y}, p.heads[i][n])
		y += textSize * leading
	}
}

func (p *gridPlot) drawLabel(c draw.Canvas, j int) {
	s := p.g.Scenarios[j]
	r := p.place(c, 0, j)
	x, width := c.Min.X+p.race, p.label-p.race-cellPad
	upper, lower := r.Max.Y-cellHeight*0.34, r.Max.Y-cellHeight*0.71
	c.FillText(bold(writing(textSize, ink)), vg.Point{X: c.Min.X, Y: upper}, s.Race)
	name := bold(writing(textSize, ink))
	c.FillText(name, vg.Point{X: x, Y: upper}, fitText(name, s.ID, width))
	title := writing(smallSize, faintInk)
	c.FillText(title, vg.Point{X: x, Y: lower}, fitText(title, s.Title(pictured(p.g.Lang)), width))
}

func (p *gridPlot) drawCell(c draw.Canvas, i, j int) {
	r, cell := p.place(c, i, j), p.g.cell(i, j)
	l := LookOf(cell.Word())
	fillBox(c, inset(r, 0.75), paints[l.Class].ground)
	middle := (r.Min.Y + r.Max.Y) / 2
	text := bold(writing(9, paints[l.Class].writing))
	if l.Class == classHolds || l.Class == classNotAsked {
		text = writing(9, paints[l.Class].writing)
	}
	c.FillText(aligned(text, draw.XCenter), vg.Point{X: r.Min.X + cellPad + glyphWidth/2 - 2, Y: middle}, l.Glyph)
	if cell.Word() != verdict.NA {
		c.FillText(text, vg.Point{X: r.Min.X + cellPad + glyphWidth, Y: middle}, cell.Label())
	}
}

// A caption explains one look.
type caption struct {
	look        Look
	thick       bool // explains the border instead
	dashed      bool // explains the dashed one
	word, means string
}

const captionHeight vg.Length = 15

// captions explain the words that occur.
func captions(g *Grid) []caption {
	var out []caption
	for _, w := range words {
		if g.occurs(w) {
			out = append(out, caption{look: LookOf(w), word: string(w), means: reports.Meaning(w, pictured(g.Lang))})
		}
	}
	if !g.Many() && g.count(func(c *Cell) bool { return c.more() > 0 }) > 0 {
		out = append(out, caption{look: Look{"", classNotAsked}, word: "+n", means: say(pictured(g.Lang), "grid.caption.more")})
	}
	out = append(out, caption{look: Look{"", classNotAsked}, thick: true, word: say(pictured(g.Lang), "grid.caption.thick"), means: say(pictured(g.Lang), "grid.caption.thick.means")})
	if g.Uncontracted() > 0 {
		out = append(out, caption{look: Look{"", classNotAsked}, dashed: true, word: say(pictured(g.Lang), "grid.caption.dashed"), means: say(pictured(g.Lang), "grid.caption.dashed.means")})
	}
	return out
}

func drawCaptions(c draw.Canvas, all []caption, left, top vg.Length) {
	for n, cap := range all {
		y := top - captionHeight*(vg.Length(n)+0.5)
		r := box(left, y-5.5, left+18, y+5.5)
		fillBox(c, r, paints[cap.look.Class].ground)
		switch {
		case cap.thick:
			strokeBox(c, r, black, 2.8)
		case cap.dashed:
			dashBox(c, r, black, 1.4)
		case cap.look.Class == classNotAsked:
			strokeBox(c, r, hairline, 0.5)
		}
		glyph := aligned(bold(writing(9, paints[cap.look.Class].writing)), draw.XCenter)
		c.FillText(glyph, vg.Point{X: left + 9, Y: y}, cap.look.Glyph)
		c.FillText(bold(writing(smallSize, ink)), vg.Point{X: left + 26, Y: y}, cap.word)
		c.FillText(writing(smallSize, ink), vg.Point{X: left + 110, Y: y}, cap.means)
	}
}
