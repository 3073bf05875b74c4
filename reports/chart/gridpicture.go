package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// The grid's measures, in points.
const (
	cellHeight vg.Length = 16 // at least
	cellPad    vg.Length = 6
	minCell    vg.Length = 70
	maxLabel   vg.Length = 280
	tallLine   vg.Length = 27 // from this height of a line on it has the title of its race
	glyphWidth vg.Length = 12
)

// cellText are the letters in cells.
var cellText = writing(9, ink)

// Finding says which race breaks most locks, and which lock fails in the smallest share of its races.
func (g *Grid) Finding(lang string) string {
	first, locks := g.worst(lang)
	switch {
	case first == "":
		return say(lang, "grid.quiet")
	case len(g.Strategies) == 1:
		return first
	}
	return say(lang, "grid.join", "first", first, "next", say(lang, "grid.most", "locks", shares(lang, measured(locks), higherShare)))
}

// picture has a scenario per line and a strategy per column, or an overview of many.
func (g *Grid) picture(f Format) picture {
	if g.Many() {
		return g.overviewPicture(f)
	}
	p := newGridPlot(g, f.Lang)
	body := growing(p.head+cellHeight*vg.Length(len(g.Scenarios)), p.draw)
	needs := p.label + p.cell*vg.Length(len(g.Strategies))
	return f.fitted(g, []string{g.counted(f.Lang)}, needs, func(width vg.Length) []block {
		return []block{body, space(8), captionColumns(captions(g, f.Lang), width)}
	})
}

// Notes implements Chart: the grid has its legend.
func (g *Grid) Notes(string) []string { return nil }

// A gridPlot draws the cells of a grid with their heads.
type gridPlot struct {
	g     *Grid
	lang  string
	race  vg.Length // width of the race ids
	label vg.Length // width of the scenario names, race ids included
	cell  vg.Length // width of a cell
	head  vg.Length // height of the strategy names
	line  vg.Length // height of a line
}

func newGridPlot(g *Grid, lang string) *gridPlot {
	p := &gridPlot{g: g, lang: lang, cell: minCell, label: 60}
	for _, s := range g.Scenarios {
		p.race = max(p.race, strong.Width(s.Race)+cellPad)
		p.label = max(p.label, strong.Width(s.ID))
	}
	p.label = p.race + min(p.label, maxLabel) + 2*cellPad
	for i, s := range g.Strategies {
		names := breakName(s.ID, maxHead)
		p.head = max(p.head, textLine*vg.Length(len(names)))
		for _, name := range names {
			p.cell = max(p.cell, strong.Width(name)+2*cellPad)
		}
		for j := range g.Scenarios {
			p.cell = max(p.cell, glyphWidth+bold(cellText).Width(g.cell(i, j).Label())+2*cellPad)
		}
	}
	p.head += smallLine + 6
	return p
}

func (p *gridPlot) draw(c draw.Canvas) {
	p.line = (c.Size().Y - p.head) / vg.Length(max(len(p.g.Scenarios), 1))
	p.cell = (c.Size().X - p.label) / vg.Length(max(len(p.g.Strategies), 1))
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
			p.g.cell(i, j).border(c, inset(p.place(c, i, j), 1.4), 1.4, 2.8)
		}
	}
}

// border shows what was not expected, and in dashes what nothing was expected of.
func (c *Cell) border(canvas draw.Canvas, r vg.Rectangle, thin, thick vg.Length) {
	switch {
	case c.Uncontracted:
		strokeBox(canvas, r, black, thin, 3, 2)
	case c.Surprising():
		strokeBox(canvas, r, black, thick)
	}
}

// place is the rectangle of the cell of strategy i in scenario j.
func (p *gridPlot) place(c draw.Canvas, i, j int) vg.Rectangle {
	left := c.Min.X + p.label + p.cell*vg.Length(i)
	top := c.Max.Y - p.head - p.line*vg.Length(j)
	return box(left, top-p.line, left+p.cell, top)
}

func (p *gridPlot) drawHead(c draw.Canvas, i int) {
	x := p.place(c, i, 0).Min.X + cellPad
	y := c.Max.Y - p.head + 6 + smallLine/2
	write(c, faint, x, y, p.g.Strategies[i].Article)
	y += (smallSize + textSize) * leading / 2
	names := breakName(p.g.Strategies[i].ID, maxHead)
	for n := len(names) - 1; n >= 0; n-- {
		write(c, strong, x, y, names[n])
		y += textLine
	}
}

func (p *gridPlot) drawLabel(c draw.Canvas, j int) {
	s, top := p.g.Scenarios[j], p.place(c, 0, j).Max.Y
	x, width := c.Min.X+p.race, p.label-p.race-cellPad
	upper, lower := top-p.line*0.34, top-p.line*0.71
	if p.line < tallLine {
		upper = top - p.line/2
	} else {
		write(c, faint, x, lower, fitText(faint, s.Title(p.lang), width))
	}
	write(c, strong, c.Min.X, upper, s.Race)
	write(c, strong, x, upper, fitText(strong, s.ID, width))
}

func (p *gridPlot) drawCell(c draw.Canvas, i, j int) {
	r, cell := p.place(c, i, j), p.g.cell(i, j)
	l := LookOf(cell.Word())
	fillBox(c, inset(r, 0.75), paints[l.Class].ground)
	middle, style := (r.Min.Y+r.Max.Y)/2, l.writing()
	if l.Class == classHolds || l.Class == classNotAsked {
		style = writing(9, paints[l.Class].writing)
	}
	write(c, aligned(style, draw.XCenter), r.Min.X+cellPad+glyphWidth/2-2, middle, l.Glyph)
	if cell.Word() != verdict.NA {
		write(c, style, r.Min.X+cellPad+glyphWidth, middle, cell.Label())
	}
}

// writing are the letters on the colour of a look.
func (l Look) writing() draw.TextStyle { return bold(writing(9, paints[l.Class].writing)) }

// A caption explains one look.
type caption struct {
	look        Look
	border      vg.Length // a black one is explained instead; 0: none
	dashes      []vg.Length
	word, means string
}

func captionOf(w verdict.Word, lang string) caption {
	return caption{look: LookOf(w), word: string(w), means: reports.Meaning(w, lang)}
}

const captionHeight vg.Length = 15

// captions explain the words that occur.
func captions(g *Grid, lang string) []caption {
	out := lists.Each(g.words(), func(w verdict.Word) caption { return captionOf(w, lang) })
	add := func(word, means string, border vg.Length, dashes ...vg.Length) {
		out = append(out, caption{Look{"", classNotAsked}, border, dashes, word, means})
	}
	if !g.Many() && g.hasMore() {
		out = append(out, caption{look: Look{"+n", classNotAsked}, word: say(lang, "grid.caption.more"), means: say(lang, "grid.caption.more.means")})
	}
	if g.count((*Cell).Surprising) > 0 {
		add(say(lang, "grid.caption.thick"), say(lang, "grid.caption.thick.means"), 2.8)
	}
	if g.Uncontracted() > 0 {
		add(say(lang, "grid.caption.dashed"), say(lang, "grid.caption.dashed.means"), 1.4, 3, 2)
	}
	return out
}

// captionColumns has captions in as many columns as there is room for, with the words only.
func captionColumns(all []caption, width vg.Length) block {
	const column = 92
	columns := max(1, int(width/column))
	lines := (len(all) + columns - 1) / columns
	return block{height: captionHeight * vg.Length(lines), draw: func(c draw.Canvas) {
		for n, one := range all {
			x, y := c.Min.X+column*vg.Length(n%columns), c.Max.Y-captionHeight*(vg.Length(n/columns)+0.5)
			one.drawSign(c, x, y)
			write(c, smallStrong, x+24, y, one.word)
		}
	}}
}

// captionsBlock has a caption a line.
func captionsBlock(all []caption) block {
	return rows(len(all), captionHeight, func(c draw.Canvas, n int, y vg.Length) {
		all[n].drawSign(c, c.Min.X, y)
		write(c, smallStrong, c.Min.X+26, y, all[n].word)
		write(c, small, c.Min.X+110, y, all[n].means)
	})
}

// drawSign draws the sign that a caption explains.
func (a *caption) drawSign(c draw.Canvas, left, y vg.Length) {
	r := box(left, y-5.5, left+18, y+5.5)
	fillBox(c, r, paints[a.look.Class].ground)
	switch {
	case a.border > 0:
		strokeBox(c, r, black, a.border, a.dashes...)
	case a.look.Class == classNotAsked:
		strokeBox(c, r, hairline, 0.5)
	}
	write(c, aligned(a.look.writing(), draw.XCenter), left+9, y, a.look.Glyph)
}
