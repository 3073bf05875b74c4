package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// The marks of all charts are four plotters of gonum/plot: curve, spans, cells and dots.

// A point of a curve; its band is from lo to hi.
type point struct{ x, y, lo, hi float64 }

// A curve is a line through points, over the area of its band. What is below a logarithmic scale is at its beginning.
type curve struct {
	name   string
	points []point
	color  color.NRGBA
	dashes []vg.Length
	stands bool // it stands out: it is thick, and has its points
	steps  bool // each value holds up to the next point
	band   bool
}

// Plot implements plot.Plotter; so do those of the other marks.
func (m curve) Plot(c draw.Canvas, p *plot.Plot) {
	xy := func(of func(point) float64) plotter.XYs {
		return lists.Each(m.points, func(at point) plotter.XY { return plotter.XY{X: at.x, Y: max(of(at), p.Y.Min)} })
	}
	line := xy(func(at point) float64 { return at.y })
	style := draw.LineStyle{Color: m.color, Width: 1, Dashes: m.dashes}
	if m.band {
		upper := xy(func(at point) float64 { return at.hi })
		slices.Reverse(upper)
		area := append(xy(func(at point) float64 { return at.lo }), upper...)
		(&plotter.Polygon{XYs: []plotter.XYs{area}, Color: faded(m.color, 0x48)}).Plot(c, p)
	}
	if m.stands {
		style.Width = 2.2
		dots := draw.GlyphStyle{Color: m.color, Radius: 2.2, Shape: draw.CircleGlyph{}}
		(&plotter.Scatter{XYs: line, GlyphStyle: dots}).Plot(c, p)
	}
	drawn := plotter.Line{XYs: line, LineStyle: style}
	if m.steps {
		drawn.StepStyle = plotter.PostStep
	}
	drawn.Plot(c, p)
}

// DataRange implements plot.DataRanger.
func (m curve) DataRange() (xmin, xmax, ymin, ymax float64) {
	return plotter.XYRange(plotter.XYs(lists.Each(m.points,
		func(at point) plotter.XY { return plotter.XY{X: at.x, Y: at.y} })))
}

// A span is a line from one value of x to another, at a height, with words behind it.
type span struct {
	y, from, to float64
	color       color.NRGBA
	width       vg.Length
	shape       draw.GlyphDrawer // at its end; nil: none
	arrow       bool             // it goes on beyond the scale
	words       string
	bold        bool
}

type spans []span

// lift is the distance by which small letters stand above the middle of their line, so that capitals are in the middle.
const lift = smallSize / 10

func (m spans) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, s := range m {
		at := vg.Point{X: min(x(max(s.to, p.X.Min)), c.Max.X), Y: y(s.y)}
		if s.arrow {
			at.X = c.Max.X + 6
			for _, up := range []vg.Length{3, -3} {
				c.StrokeLine2(draw.LineStyle{Color: s.color, Width: 1.4}, at.X-5, at.Y+up, at.X, at.Y)
			}
		}
		if s.width > 0 {
			style := draw.LineStyle{Color: inColor(s.bold && s.shape == nil), Width: s.width}
			c.StrokeLine2(style, x(max(s.from, p.X.Min)), at.Y, at.X, at.Y)
		}
		if s.shape != nil {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: s.color, Radius: 3, Shape: s.shape}, at)
		}
		letters := writing(smallSize, ink)
		if s.bold {
			letters = bold(writing(smallSize, s.color))
		}
		if s.words != "" { // no rule runs through it
			fillBox(c, box(at.X+6, at.Y-5, at.X+8+letters.Width(s.words), at.Y+5), white)
		}
		write(c, letters, at.X+7, at.Y+lift, s.words)
	}
}

// A cell is a box around a point, with a glyph and words.
type cell struct {
	x, y float64
	paint
	glyph, words string
	means        string    // what a verdict means, with its sign; "": it is none
	quiet        bool      // it is written thin
	border       vg.Length // width of a black one; 0: none
	dashes       []vg.Length
}

// like gives a cell the colours of a look, and its glyph.
func (c cell) like(l Look) cell {
	c.paint, c.glyph, c.quiet = paints[l.Class], l.Glyph, l.Class == classHolds || l.Class == classNotAsked
	return c
}

// worst gives a cell the look of the gravest verdict in rows, and its name.
func (c cell) worst(lang string, of []record) cell {
	words := lists.Each(of, func(r record) verdict.Word { return verdict.Word(r.text("verdict")) })
	all := Cell{Verdicts: words, Triggered: true}
	c = c.like(LookOf(all.Word()))
	c.words, c.means = all.Label(lang), meaning(lang, all.Word())
	return c
}

type cells []cell

func (m cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	glyphs := lists.Each(m, func(c cell) string { return c.glyph })
	for _, one := range m {
		at := box(x(one.x-0.5), y(one.y-0.5), x(one.x+0.5), y(one.y+0.5))
		if one.ground != white {
			fillBox(c, inset(at, 0.75), one.ground)
		}
		letters, middle := writing(smallSize, one.writing), (at.Min.Y+at.Max.Y)/2+lift
		if !one.quiet {
			letters = bold(letters)
		}
		switch {
		case one.words != "":
			lines, width := []string{one.words}, at.Max.X-at.Min.X-behind(glyphs)-4
			if letters.Width(one.words) > width { // its numbers come into the next line
				lines = foldText(letters, strings.ReplaceAll(one.words, "+", " +"), width)
				lines = lists.Each(lines, func(l string) string { return strings.ReplaceAll(l, " +", "+") })
			}
			if room := int((at.Max.Y - at.Min.Y) / smallSize); len(lines) > max(room, 1) {
				lines = []string{fitText(letters, one.words, width)}
			}
			write(c, letters, at.Min.X+4, middle, one.glyph)
			for i, said := range lines {
				up := vg.Length(len(lines)-1)/2 - vg.Length(i)
				write(c, letters, at.Min.X+behind(glyphs), middle+smallSize*up, said)
			}
		case widest(small, glyphs)+4 < at.Max.X-at.Min.X: // all have room, or none is written
			write(c, aligned(letters, draw.XCenter), (at.Min.X+at.Max.X)/2, middle, one.glyph)
		}
	}
	for _, one := range m { // borders last, so that no neighbour paints over them
		if one.border > 0 {
			at := box(x(one.x-0.5), y(one.y-0.5), x(one.x+0.5), y(one.y+0.5))
			strokeBox(c, inset(at, 1.4), black, one.border, one.dashes...)
		}
	}
}

// behind returns the distance from the edge of a cell to its words, which stand behind the widest glyph.
func behind(glyphs []string) vg.Length { return max(15, widest(small, glyphs)+8) }

// A dot is a point with a label beside it.
type dot struct {
	x, y   float64
	color  color.NRGBA
	shape  draw.GlyphDrawer // nil: only the label
	label  string
	bold   bool
	turned bool        // the label goes upwards from the point
	behind bool        // the label stands behind a line like that of its curve, or behind its place
	line   []vg.Length // the dashes of that line; nil: there is none
}

// lineLength is that of the line before a label.
const lineLength vg.Length = 20

// dots have their labels on the right, moved apart where they would run into each other.
type dots []dot

func (m dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	height := func(d dot) vg.Length { return y(max(d.y, p.Y.Min)) }
	for _, line := range lists.Gather(m, func(a, b dot) bool { return a.x == b.x }) {
		slices.SortStableFunc(line, func(a, b dot) int { return cmp.Compare(height(a), height(b)) })
		at, step := make([]vg.Length, len(line)), smallSize*vg.Length(1.15)
		for i, d := range line {
			if at[i] = height(d); i > 0 && !d.turned {
				at[i] = max(at[i], at[i-1]+step)
			}
		}
		top := c.Max.Y
		for i, d := range slices.Backward(line) {
			if d.y <= p.Y.Max && !d.turned {
				at[i] = min(at[i], top)
				top = at[i] - step
			}
			d.write(c, vg.Point{X: x(d.x), Y: height(d)}, at[i])
		}
	}
}

// write draws a dot at its place, and its label at a height.
func (d dot) write(c draw.Canvas, at vg.Point, y vg.Length) {
	if d.shape != nil {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: d.color, Radius: 2.6, Shape: d.shape}, at)
		at.X += 6
	}
	if d.line != nil {
		c.StrokeLine2(draw.LineStyle{Color: d.color, Width: 1, Dashes: d.line}, at.X+3, y, at.X+3+lineLength, y)
	}
	if d.behind {
		at.X += lineLength + 3
	}
	letters := writing(smallSize, d.color)
	if d.bold {
		letters = bold(letters)
	}
	if d.turned {
		letters.Rotation = math.Pi / 2
	}
	write(c, letters, at.X, y, d.label)
}

// GlyphBoxes implements plot.GlyphBoxer: there is room for the labels.
func (m dots) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	return lists.Each(m, func(d dot) plot.GlyphBox {
		room := box(-3, -3, 8+bold(small).Width(d.label), 3)
		if d.behind {
			room.Max.X += lineLength + 3
		}
		if d.turned {
			room = box(-5, 0, 5, bold(small).Width(d.label))
		}
		return plot.GlyphBox{X: p.X.Norm(d.x), Y: p.Y.Norm(max(d.y, p.Y.Min)), Rectangle: room}
	})
}

// GlyphBoxes implements plot.GlyphBoxer likewise.
func (m spans) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	return lists.Each(m, func(s span) plot.GlyphBox {
		return plot.GlyphBox{X: p.X.Norm(min(max(s.to, p.X.Min), p.X.Max)), Y: p.Y.Norm(s.y), Rectangle: box(-3, -3,
			14+bold(small).Width(s.words), 3)}
	})
}
