package chart

import (
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms/lock"
	"locklab/scenarios/study"
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
	lang := pictured(f.Lang)
	p := &tolerancePlot{f: f, label: 40}
	for _, e := range f.Locks {
		p.label = max(p.label, bold(writing(textSize, ink)).Width(e.ID)+14, writing(smallSize, ink).Width(serversNote(lang, e))+14)
	}
	x := margin + p.label
	for _, h := range f.Hazards {
		p.lefts = append(p.lefts, x)
		if h.Sized {
			x += rangeWidth + rangeGap
		} else {
			x += max(answerWidth, bold(writing(textSize, ink)).Width(h.Fault)+14)
		}
	}
	p.width = max(x+margin, 480)
	p.heading = heading{title: f.Title(lang), takeaway: f.Takeaway(lang), width: p.width - 2*margin}
	p.foot = foldText(writing(smallSize, ink), f.legend(), p.width-2*margin)
	if note := f.Note(lang); note != "" {
		p.foot = append(foldText(writing(smallSize, ink), note, p.width-2*margin), p.foot...)
	}
	return p
}

func (f *Tolerance) legend() string {
	lang := pictured(f.Lang)
	return say(lang, "tolerance.legend", "max", decimal(study.MaxLeases), "bounds", f.Bounds(lang))
}

func (p *tolerancePlot) body() vg.Length {
	return rangeHead + rangeRow*vg.Length(len(p.f.Locks)) + rangeFoot
}

func (p *tolerancePlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.body() + smallSize*leading*vg.Length(len(p.foot))
}

func (p *tolerancePlot) draw(c draw.Canvas) {
	lang := pictured(p.f.Lang)
	top := p.heading.draw(c, c.Min.X+margin, c.Max.Y-margin)
	for i, e := range p.f.Locks {
		y := p.row(top, i)
		fillBox(c, box(c.Min.X+margin, y-rangeRow/2, c.Max.X-margin, y+rangeRow/2), ground(i))
		name, note := y, serversNote(lang, e)
		if note != "" {
			name += smallSize * leading / 2
			c.FillText(writing(smallSize, faintInk), vg.Point{X: c.Min.X + margin + 4, Y: y - textSize*leading/2}, note)
		}
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: c.Min.X + margin + 4, Y: name}, e.ID)
	}
	for n, h := range p.f.Hazards {
		left := c.Min.X + p.lefts[n]
		c.FillText(bold(writing(textSize, ink)), vg.Point{X: left, Y: top - textSize*leading/2}, h.Fault)
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: top - textSize*leading - smallSize*leading/2}, say(lang, "tolerance.fault."+h.Fault))
		if h.Sized {
			p.scale(c, guides[h.Fault], left, top)
		}
		for i := range p.f.Locks {
			if h.Sized {
				drawRange(c, lang, i, p.f.At(i, n), left, p.row(top, i))
			} else {
				drawAnswer(c, lang, p.f.At(i, n), left, p.row(top, i))
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

// rangeAt is the position of a size in a panel.
func rangeAt(left vg.Length, size float64) vg.Length {
	return left + rangeWidth*vg.Length(size/study.MaxLeases)
}

// A guide is a size at which theory expects a lock to fall.
type guide struct {
	at   float64 // in leases
	name string  // what is taken off the lease
}

// guides are those of each fault, two at most, the smaller one first: work takes two
// fifths of a lease, so that a lease that is never renewed has three fifths left when the
// work begins; one that is renewed every third of a lease has two thirds left when the
// next renewal is due.
var guides = map[string][]guide{
	"pause":        {{0.6, "work"}, {2.0 / 3, "renewal"}},
	"client-clock": {{0.6, "work"}},
	"node-clock":   {{0.6, "work"}, {2.0 / 3, "renewal"}},
}

// scale draws a panel's guide lines and the sizes below them.
func (p *tolerancePlot) scale(c draw.Canvas, guides []guide, left, top vg.Length) {
	lang := pictured(p.f.Lang)
	high, low := top-rangeHead, top-rangeHead-rangeRow*vg.Length(len(p.f.Locks))
	for i := range 5 {
		size := study.MaxLeases * float64(i) / 4
		x := rangeAt(left, size)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, x, low-3, x, high)
		c.FillText(aligned(writing(smallSize, ink), draw.XCenter), vg.Point{X: x, Y: low - 9}, decimal(size))
	}
	c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: low - 20}, say(lang, "tolerance.axis"))
	for i, g := range guides {
		x := rangeAt(left, g.at)
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{3, 3}}, x, low, x, high)
		side, away := draw.XRight, vg.Length(1)
		if i > 0 {
			side, away = draw.XLeft, -1
		}
		c.FillText(aligned(writing(smallSize, ink), side), vg.Point{X: x + away, Y: high + 6}, say(lang, "tolerance.guide."+g.name))
	}
}

// serversNote says how many servers a lock has, if several.
func serversNote(lang string, e lock.Entry) string {
	if n := study.FewServers(e); n > 1 {
		return say(lang, "tolerance.servers", "n", strconv.Itoa(n))
	}
	return ""
}

// drawRange draws the sizes that a lock survives, and the one at which it falls.
// Row i is its background.
func drawRange(c draw.Canvas, lang string, i int, l *study.Limit, left, y vg.Length) {
	st := styleOf(l.Strategy)
	line := draw.LineStyle{Color: st.color, Width: 2, Dashes: st.dash}
	text := bold(writing(smallSize, ink))
	switch l.Answer {
	case study.NoAnswer:
		c.FillText(writing(textSize, faintInk), vg.Point{X: left + 4, Y: y}, say(lang, "tolerance.stopped"))
	case study.NotAsked:
		c.FillText(writing(textSize, faintInk), vg.Point{X: left + 4, Y: y}, limitLabel(lang, l))
	case study.NoLimit:
		end := rangeAt(left, study.MaxLeases) + 14
		c.StrokeLine2(line, left, y, end-7, y)
		arrow(c, end, y, st)
		c.FillText(text, vg.Point{X: end + 4, Y: y}, "> "+decimal(study.MaxLeases))
	case study.AnySize:
		cross(c, left, y)
		c.FillText(text, vg.Point{X: left + 9, Y: y}, say(lang, "tolerance.label.always"))
	default:
		holds, falls := rangeAt(left, l.Holds), rangeAt(left, l.Falls)
		c.StrokeLine2(line, left, y, min(holds, falls-4), y)
		cross(c, falls, y)
		label := vg.Point{X: falls + 8, Y: y}
		words := say(lang, "tolerance.at", "at", leases(l.Falls))
		if room := left + rangeWidth + rangeGap - label.X; text.Width(words) > room {
			words = leases(l.Falls)
		}
		fillBox(c, box(label.X-1, y-5, label.X+text.Width(words)+1, y+5), ground(i)) // over the guides
		c.FillText(text, label, words)
	}
}

func drawAnswer(c draw.Canvas, lang string, l *study.Limit, left, y vg.Length) {
	switch l.Answer {
	case study.FallsOnce:
		cross(c, left+5, y)
		c.FillText(bold(writing(smallSize, ink)), vg.Point{X: left + 14, Y: y}, limitLabel(lang, l))
	case study.HoldsOnce:
		c.DrawGlyph(draw.GlyphStyle{Color: green, Radius: 3.4, Shape: draw.CircleGlyph{}}, vg.Point{X: left + 5, Y: y})
		c.FillText(bold(writing(smallSize, ink)), vg.Point{X: left + 14, Y: y}, limitLabel(lang, l))
	case study.NotAsked:
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left + 2, Y: y}, limitLabel(lang, l))
	default:
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left + 2, Y: y}, say(lang, "tolerance.unknown"))
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
