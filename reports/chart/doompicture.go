package chart

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// PNG draws the share that is lost over the steps of the run.
func (d *Doom) PNG(w io.Writer) error { return d.picture().png(w) }

// SVG draws the same as PNG.
func (d *Doom) SVG(w io.Writer) error { return d.picture().svg(w) }

// The curve's measures, in points.
const (
	doomHeight vg.Length = 210 // of the plot
	doomHead   vg.Length = 24  // above it, for the name of the point of no return
	doomFoot   vg.Length = 34
	doomScale  vg.Length = 36 // left of it
	doomStride vg.Length = 24 // from step to step at least
	doomLabels           = 7  // steps that are told at most
)

func (d *Doom) picture() picture {
	p := newDoomPlot(d)
	return picture{width: p.width, height: p.height(), draw: p.draw}
}

type doomPlot struct {
	d       *Doom
	width   vg.Length
	stride  vg.Length
	heading heading
	foot    []string
}

func newDoomPlot(d *Doom) *doomPlot {
	p := &doomPlot{d: d}
	steps := vg.Length(max(1, len(d.Steps)-1))
	p.stride = max(doomStride, 560/steps)
	if p.stride*steps > 900 {
		p.stride = 900 / steps
	}
	p.width = 2*margin + doomScale + p.stride*steps + 12
	p.heading = heading{title: d.Title(pictured(p.d.Lang)), takeaway: d.Takeaway(pictured(p.d.Lang)), width: p.width - 2*margin}
	p.foot = foldText(writing(smallSize, ink), say(pictured(p.d.Lang), "doom.legend", "bounds", d.Bounds(pictured(p.d.Lang))), p.width-2*margin)
	return p
}

func (p *doomPlot) body() vg.Length { return doomHead + doomHeight + doomFoot }

func (p *doomPlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.body() + smallSize*leading*vg.Length(len(p.foot))
}

// A doomArea is the position of the plot in a picture.
type doomArea struct{ left, bottom, stride vg.Length }

func (a doomArea) point(step int, share float64) vg.Point {
	return vg.Point{X: a.left + a.stride*vg.Length(step), Y: a.bottom + doomHeight*vg.Length(share)}
}

func (p *doomPlot) draw(c draw.Canvas) {
	top := p.heading.draw(c, c.Min.X+margin, c.Max.Y-margin)
	a := doomArea{c.Min.X + margin + doomScale, top - doomHead - doomHeight, p.stride}
	p.axes(c, a)
	if len(p.d.Steps) > 0 {
		p.noReturn(c, a)
		p.labels(c, a)
		p.curve(c, a)
	}
	for i, line := range p.foot {
		c.FillText(writing(smallSize, ink), vg.Point{X: c.Min.X + margin, Y: top - p.body() - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

func (p *doomPlot) axes(c draw.Canvas, a doomArea) {
	last := max(1, len(p.d.Steps)-1)
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		at := a.point(0, share)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, at.X, at.Y, a.point(last, 0).X, at.Y)
		c.FillText(aligned(writing(smallSize, ink), draw.XRight), vg.Point{X: at.X - 8, Y: at.Y}, shareText(share))
	}
	every := 1
	for a.stride*vg.Length(every) < 20 {
		every++
	}
	for n := 0; n < len(p.d.Steps); n += every {
		at := a.point(n, 0)
		c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.5}, at.X, at.Y, at.X, at.Y-3)
		c.FillText(aligned(writing(smallSize, ink), draw.XCenter), vg.Point{X: at.X, Y: at.Y - 9}, strconv.Itoa(n))
	}
	c.FillText(writing(smallSize, faintInk), vg.Point{X: a.left, Y: a.bottom - 21}, say(pictured(p.d.Lang), "doom.axis", "harm", string(p.d.Harm)))
}

// noReturn marks the point of no return, behind the curve.
func (p *doomPlot) noReturn(c draw.Canvas, a doomArea) {
	at := a.point(p.d.NoReturn, 1)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.9, Dashes: []vg.Length{3, 3}}, at.X, a.bottom, at.X, at.Y+6)
	side := draw.XCenter
	style := bold(writing(smallSize, ink))
	text := say(pictured(p.d.Lang), "doom.mark", "step", strconv.Itoa(p.d.NoReturn))
	if at.X-style.Width(text)/2 < a.left {
		side = draw.XLeft
	} else if at.X+style.Width(text)/2 > a.point(max(1, len(p.d.Steps)-1), 0).X {
		side = draw.XRight
	}
	c.FillText(aligned(style, side), vg.Point{X: at.X, Y: at.Y + 15}, text)
}

func (p *doomPlot) curve(c draw.Canvas, a doomArea) {
	st := styleOf(p.d.History.Strategy)
	line := make([]vg.Point, len(p.d.Steps))
	for n, s := range p.d.Steps {
		line[n] = a.point(n, s.Share)
	}
	c.StrokeLines(draw.LineStyle{Color: st.color, Width: 1.6, Dashes: st.dash}, line)
	for n, s := range p.d.Steps {
		if s.Fault {
			diamond(c, line[n])
			continue
		}
		c.DrawGlyph(draw.GlyphStyle{Color: st.color, Radius: 2.4, Shape: st.marker}, line[n])
	}
}

// diamond marks a fault.
func diamond(c draw.Canvas, at vg.Point) {
	const r vg.Length = 5
	var path vg.Path
	path.Move(vg.Point{X: at.X, Y: at.Y + r})
	path.Line(vg.Point{X: at.X + r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y - r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y})
	path.Close()
	c.SetColor(vermillion)
	c.Fill(path)
}

// told are the steps that get a label: faults, the point of no return, and those
// at which the share moves most.
func (p *doomPlot) told() []int {
	steps := p.d.Steps
	moves := func(n int) float64 { return math.Abs(steps[n].Share - steps[n-1].Share) }
	var out, rest []int
	for n := 1; n < len(steps); n++ {
		switch {
		case steps[n].Fault || n == p.d.NoReturn:
			out = append(out, n)
		case moves(n) >= 0.02:
			rest = append(rest, n)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(moves(b), moves(a)) })
	return append(out, rest[:min(len(rest), max(0, doomLabels-len(out)))]...)
}

// labels writes what happened beside the steps that matter, where there is room.
func (p *doomPlot) labels(c draw.Canvas, a doomArea) {
	style := writing(smallSize, ink)
	taken := p.inked(a)
	right := a.point(max(1, len(p.d.Steps)-1), 0).X
	for _, n := range p.told() {
		text := p.d.deed(n, pictured(p.d.Lang)) + ": " + shareText(p.d.Steps[n].Share)
		at, width := a.point(n, p.d.Steps[n].Share), style.Width(text)
		// left and right of the step, above and below, and not so far off that it
		// could be another's
		for i := range 12 {
			rise := vg.Length(i/4) * 11
			if i%2 == 1 {
				rise = -rise
			}
			left := at.X - 9 - width
			if i%4 > 1 {
				left = at.X + 9
			}
			place := box(left, at.Y+rise-5.5, left+width, at.Y+rise+5.5)
			if place.Min.X < a.left+2 || place.Max.X > right || place.Min.Y < a.bottom+1 || place.Max.Y > a.bottom+doomHeight+6 ||
				slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(t, place) }) {
				continue
			}
			fillBox(c, box(left-2, place.Min.Y, left+width+2, place.Max.Y), white) // over the grid
			c.FillText(style, vg.Point{X: left, Y: at.Y + rise}, text)
			taken = append(taken, place)
			break
		}
	}
}

// inked is where the curve runs, and the line of the point of no return.
func (p *doomPlot) inked(a doomArea) (boxes []vg.Rectangle) {
	add := func(from, to vg.Point) {
		const parts = 8
		for i := range parts + 1 {
			f := vg.Length(i) / parts
			x, y := from.X+(to.X-from.X)*f, from.Y+(to.Y-from.Y)*f
			boxes = append(boxes, box(x-3, y-3, x+3, y+3))
		}
	}
	for n := 1; n < len(p.d.Steps); n++ {
		add(a.point(n-1, p.d.Steps[n-1].Share), a.point(n, p.d.Steps[n].Share))
	}
	at := a.point(p.d.NoReturn, 0)
	return append(boxes, box(at.X-1, a.bottom, at.X+1, a.bottom+doomHeight))
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
