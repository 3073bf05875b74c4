package chart

import (
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// PNG draws a panel for each hazard with a size, all on one scale, and a column
// for each one without.
func (f *Tolerance) PNG(w io.Writer) error { return f.picture().png(w) }

// SVG draws the same as PNG.
func (f *Tolerance) SVG(w io.Writer) error { return f.picture().svg(w) }

// The measures of a chart of tolerances, in points.
const (
	rangeWidth  vg.Length = 222 // of a panel's scale
	rangeGap    vg.Length = 54  // room behind it, for the arrows and their words
	answerWidth vg.Length = 92  // of a column of a hazard without size
	rangeRow    vg.Length = 30
	rangeHead   vg.Length = 46
	rangeFoot   vg.Length = 38
)

// stripe lies behind every other row.
var stripe = color.NRGBA{0xf7, 0xf7, 0xf7, 0xff}

func (f *Tolerance) picture() picture {
	p := newTolerancePlot(f)
	return picture{width: p.width, height: p.height(), draw: p.draw}
}

type tolerancePlot struct {
	f       *Tolerance
	width   vg.Length
	label   vg.Length   // of the locks' names
	lefts   []vg.Length // where each hazard's column begins, from the picture's left
	heading heading
	foot    []string
}

func newTolerancePlot(f *Tolerance) *tolerancePlot {
	p := &tolerancePlot{f: f, label: 40}
	for i, id := range f.Locks {
		p.label = max(p.label, bold(writing(textSize, ink)).Width(id)+14, writing(smallSize, ink).Width(f.note(i))+14)
	}
	x := margin + p.label
	for i := range f.Hazards {
		p.lefts = append(p.lefts, x)
		if f.Hazards[i].Sized {
			x += rangeWidth + rangeGap
		} else {
			x += max(answerWidth, bold(writing(textSize, ink)).Width(f.Hazards[i].ID)+14)
		}
	}
	p.width = max(x+margin, 480)
	p.heading = heading{title: f.Title("en"), takeaway: f.Takeaway("en"), width: p.width - 2*margin}
	p.foot = foldText(writing(smallSize, ink), f.legend(), p.width-2*margin)
	return p
}

func (f *Tolerance) legend() string {
	return say("en", "tolerance.legend", "max", decimal(f.Max), "bounds", f.Bounds("en"))
}

func (p *tolerancePlot) body() vg.Length {
	return rangeHead + rangeRow*vg.Length(len(p.f.Locks)) + rangeFoot
}

func (p *tolerancePlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.body() + smallSize*leading*vg.Length(len(p.foot))
}

func (p *tolerancePlot) draw(c draw.Canvas) {
	top := p.heading.draw(c, c.Min.X+margin, c.Max.Y-margin)
	for i, id := range p.f.Locks {
		y := p.row(top, i)
		fillBox(c, box(c.Min.X+margin, y-rangeRow/2, c.Max.X-margin, y+rangeRow/2), ground(i))
		name, note := y, p.f.note(i)
		if note != "" {
			name += smallSize * leading / 2
			c.FillText(writing(smallSize, faintInk), vg.Point{X: c.Min.X + margin + 4, Y: y - textSize*leading/2}, note)
		}
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: c.Min.X + margin + 4, Y: name}, id)
	}
	for n := range p.f.Hazards {
		h, left := &p.f.Hazards[n], c.Min.X+p.lefts[n]
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: left, Y: top - textSize*leading/2}, h.ID)
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: top - textSize*leading - smallSize*leading/2}, say("en", "tolerance.fault."+h.ID))
		if h.Sized {
			p.scale(c, h, left, top)
		}
		for i := range p.f.Locks {
			if h.Sized {
				p.drawRange(c, i, h.limit(i), left, p.row(top, i))
			} else {
				p.drawAnswer(c, h, h.limit(i), left, p.row(top, i))
			}
		}
	}
	for i, line := range p.foot {
		c.FillText(writing(smallSize, ink), vg.Point{X: c.Min.X + margin, Y: top - p.body() - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// ground is what row i lies on.
func ground(i int) color.NRGBA {
	if i%2 == 0 {
		return stripe
	}
	return white
}

// row is the middle of the row of lock i.
func (p *tolerancePlot) row(top vg.Length, i int) vg.Length {
	return top - rangeHead - rangeRow*(vg.Length(i)+0.5)
}

// at is where a size stands in a panel.
func (p *tolerancePlot) at(left vg.Length, size float64) vg.Length {
	if p.f.Max <= 0 {
		return left
	}
	return left + rangeWidth*vg.Length(size/p.f.Max)
}

// scale draws a panel's guide lines and the sizes below them.
func (p *tolerancePlot) scale(c draw.Canvas, h *Hazard, left, top vg.Length) {
	high, low := top-rangeHead, top-rangeHead-rangeRow*vg.Length(len(p.f.Locks))
	for i := range 5 {
		size := p.f.Max * float64(i) / 4
		x := p.at(left, size)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, x, low-3, x, high)
		c.FillText(aligned(writing(smallSize, ink), draw.XCenter), vg.Point{X: x, Y: low - 9}, decimal(size))
	}
	c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: low - 20}, say("en", "tolerance.axis"))
	for i, g := range h.Guides {
		x := p.at(left, g.At)
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{3, 3}}, x, low, x, high)
		side, away := draw.XRight, vg.Length(1)
		if i > 0 {
			side, away = draw.XLeft, -1
		}
		c.FillText(aligned(writing(smallSize, ink), side), vg.Point{X: x + away, Y: high + 6}, say("en", "tolerance.guide."+g.Name))
	}
}

// note says how many servers lock i has, if several.
func (f *Tolerance) note(i int) string {
	if i < len(f.Servers) && f.Servers[i] > 1 {
		return say("en", "tolerance.servers", "n", strconv.Itoa(f.Servers[i]))
	}
	return ""
}

// drawRange draws the sizes that a lock survives, and the one at which it falls.
func (p *tolerancePlot) drawRange(c draw.Canvas, i int, l Limit, left, y vg.Length) {
	st, zero := styleOf(p.f.Locks[i]), left
	line := draw.LineStyle{Color: st.color, Width: 2, Dashes: st.dash}
	text := bold(writing(smallSize, ink))
	switch (&Hazard{Sized: true}).Result(l) {
	case resultUnknown:
		c.FillText(writing(textSize, faintInk), vg.Point{X: zero + 4, Y: y}, say("en", "tolerance.stopped"))
	case resultHolds:
		end := p.at(left, p.f.Max) + 14
		c.StrokeLine2(line, zero, y, end-7, y)
		arrow(c, end, y, st)
		c.FillText(text, vg.Point{X: end + 4, Y: y}, "> "+decimal(p.f.Max))
	case resultAlways:
		cross(c, zero, y)
		c.FillText(text, vg.Point{X: zero + 9, Y: y}, say("en", "tolerance.label.always"))
	default:
		holds, falls := p.at(left, l.Holds), p.at(left, l.Falls)
		c.StrokeLine2(line, zero, y, holds, y)
		c.DrawGlyph(draw.GlyphStyle{Color: st.color, Radius: 2.5, Shape: st.marker}, vg.Point{X: holds, Y: y})
		cross(c, falls, y)
		label := vg.Point{X: falls + 8, Y: y}
		words := say("en", "tolerance.at", "at", leases(l.Falls))
		if room := left + rangeWidth + rangeGap - label.X; text.Width(words) > room {
			words = leases(l.Falls)
		}
		fillBox(c, box(label.X-1, y-5, label.X+text.Width(words)+1, y+5), ground(i)) // over the guides
		c.FillText(text, label, words)
	}
}

func (p *tolerancePlot) drawAnswer(c draw.Canvas, h *Hazard, l Limit, left, y vg.Length) {
	switch h.Result(l) {
	case resultFalls:
		cross(c, left+5, y)
		c.FillText(bold(writing(smallSize, ink)), vg.Point{X: left + 14, Y: y}, p.f.label("en", h, l))
	case resultStands:
		c.DrawGlyph(draw.GlyphStyle{Color: green, Radius: 3.4, Shape: draw.CircleGlyph{}}, vg.Point{X: left + 5, Y: y})
		c.FillText(bold(writing(smallSize, ink)), vg.Point{X: left + 14, Y: y}, p.f.label("en", h, l))
	default:
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left + 2, Y: y}, say("en", "tolerance.unknown"))
	}
}

// cross marks where two come in.
func cross(c draw.Canvas, x, y vg.Length) {
	style := draw.LineStyle{Color: vermillion, Width: 1.8}
	c.StrokeLine2(style, x-2.8, y-2.8, x+2.8, y+2.8)
	c.StrokeLine2(style, x-2.8, y+2.8, x+2.8, y-2.8)
}

// arrow is an open arrowhead that ends at x: what it points to was not searched.
func arrow(c draw.Canvas, x, y vg.Length, st style) {
	head := []vg.Point{{X: x - 7, Y: y + 4.5}, {X: x, Y: y}, {X: x - 7, Y: y - 4.5}, {X: x - 7, Y: y + 4.5}}
	c.StrokeLines(draw.LineStyle{Color: st.color, Width: 1.4}, head)
}
