package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
)

// The overview's measures, in points.
const (
	markWidth  vg.Length = 23
	markHeight vg.Length = 16
	bandHeight vg.Length = 19
	keyHeight  vg.Length = 12
)

// overviewPicture has a lock per line, in groups, and a race per column.
func (g *Grid) overviewPicture(lang string) picture {
	bands, races := g.Bands(), bold(cellText)
	label, head, lines := vg.Length(0), vg.Length(0), vg.Length(0)
	var shared []string // which locks share a line
	for _, b := range bands {
		lines += bandHeight + markHeight*vg.Length(len(b.Lines))
		for _, l := range b.Lines {
			label = max(label, normal.Width(g.lineName(l))+3*cellPad)
		}
	}
	for _, s := range g.Scenarios {
		head = max(head, races.Width(s.short())+6)
	}
	width := max(label+markWidth*vg.Length(len(g.Scenarios)), 520)
	for _, b := range bands {
		for _, l := range b.Lines {
			if len(l.Same) > 0 {
				also := say(lang, "grid.caption.also", "locks", g.lineName(l), "others", g.names(l.Same))
				shared = append(shared, foldText(small, also, width)...)
			}
		}
	}
	body := block{head + lines, func(c draw.Canvas) {
		for j, s := range g.Scenarios {
			up := races
			up.Rotation = math.Pi / 2
			write(c, up, c.Min.X+label+markWidth*(vg.Length(j)+0.5), c.Max.Y-head+4, s.short())
		}
		y := c.Max.Y - head
		for _, b := range bands {
			write(c, strong, c.Min.X, y-bandHeight*0.6, text.FamilyTitle(b.Group, lang))
			y -= bandHeight
			for _, l := range b.Lines {
				write(c, normal, c.Min.X+cellPad, y-markHeight/2, g.lineName(l))
				g.drawMarks(c, l, c.Min.X+label, y)
				y -= markHeight
			}
		}
	}}
	return stacked(width+2*margin, heading(g, lang, width), body, space(14), listed(faint, keyHeight, shared), space(6),
		g.races(width), space(14), captionsBlock(captions(g, lang)))
}

// races are the names of races, in columns.
func (g *Grid) races(width vg.Length) block {
	keys, widest := each(g.Scenarios, func(s Column) string { return s.short() + "  " + s.ID }), vg.Length(0)
	for _, key := range keys {
		widest = max(widest, small.Width(key)+14)
	}
	columns := max(1, int(width/widest))
	rows := (len(keys) + columns - 1) / columns
	return block{keyHeight * vg.Length(rows), func(c draw.Canvas) {
		for n, key := range keys {
			write(c, small, c.Min.X+widest*vg.Length(n/rows), c.Max.Y-keyHeight*(vg.Length(n%rows)+0.5), key)
		}
	}}
}

// drawMarks draws the cells of a line.
func (g *Grid) drawMarks(c draw.Canvas, l Line, left, top vg.Length) {
	for j := range g.Scenarios {
		cell := g.cell(l.First, j)
		look := LookOf(cell.Word())
		x := left + markWidth*vg.Length(j)
		r := inset(box(x, top-markHeight, x+markWidth, top), 0.75)
		fillBox(c, r, paints[look.Class].ground)
		write(c, aligned(look.writing(), draw.XCenter), x+markWidth/2, top-markHeight/2, look.Glyph)
		switch {
		case cell.Uncontracted:
			strokeBox(c, inset(r, 0.6), black, 1.2, 3, 2)
		case cell.Surprising():
			strokeBox(c, inset(r, 0.6), black, 2.2)
		}
	}
}
