package chart

import (
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// PNG draws a panel for each group of locks that behave alike, and one for what a crash
// costs, all over the same TTLs.
func (r *Rate) PNG(w io.Writer) error { return r.picture().png(w) }

// SVG draws the same as PNG; its text is outlines.
func (r *Rate) SVG(w io.Writer) error { return r.picture().svg(w) }

// The measures of a chart of rates, in points. Six hundred points are 800 pixels.
const (
	rateWidth   vg.Length = 600
	ratePanel   vg.Length = 196 // height of a panel
	rateTitle   vg.Length = 36  // above its axes
	rateLeft    vg.Length = 44  // beside its axes
	rateBelow   vg.Length = 34
	rateZero    vg.Length = 22 // height of the strip for "none"
	rateColumns           = 2
)

type ratePlot struct {
	r       *Rate
	lang    string
	heading heading
	groups  [][]int
	lines   []rateLine
	legend  []string
	foot    []string
	top     float64 // of the scale of overlaps, a power of ten
	low     float64 // its least, a power of ten
	blocked float64 // top of the scale of blocked seconds, a power of ten
	shade   time.Duration
}

// A rateLine stands for environments of which the same is expected everywhere.
type rateLine struct {
	environments []cost.Environment
	style        style
}

func (r *Rate) picture() picture {
	p := newRatePlot(r)
	return picture{width: rateWidth, height: p.height(), draw: p.draw}
}

func newRatePlot(r *Rate) *ratePlot {
	p := &ratePlot{r: r, lang: r.Lang, groups: r.Groups(), shade: r.Hold.Longest()}
	if p.lang == "" {
		p.lang = "en"
	}
	inner := rateWidth - 2*margin
	p.heading = heading{title: r.Title(p.lang), takeaway: r.Takeaway(p.lang), axes: "", width: inner}
	for _, e := range r.Environments {
		if len(e.Causes) == 0 {
			continue
		}
		i := slices.IndexFunc(p.lines, func(l rateLine) bool { return p.same(l.environments[0], e) })
		if i < 0 {
			p.lines = append(p.lines, rateLine{style: style{lineColors[len(p.lines)%len(lineColors)], markers[len(p.lines)%len(markers)], dashes[len(p.lines)%len(dashes)]}})
			i = len(p.lines) - 1
		}
		p.lines[i].environments = append(p.lines[i].environments, e)
	}
	small := writing(smallSize, ink)
	for _, l := range p.lines {
		p.legend = append(p.legend, p.label(l))
	}
	notes := strings.Join(r.notes(p.lang), " ")
	p.foot = foldText(small, r.Assumptions(p.lang), inner)
	p.foot = append(p.foot, foldText(small, say(p.lang, "rate.legend", "notes", notes), inner)...)
	p.foot = append(p.foot, foldText(small, r.Method(p.lang), inner)...)
	p.foot = append(p.foot, say(p.lang, "rate.sources"))
	for i, line := range r.sources(p.lang) {
		if len(r.Environments[i].Causes) > 0 {
			p.foot = append(p.foot, foldText(small, line, inner)...)
		}
	}
	p.scale()
	return p
}

// same says whether two environments break all locks equally often.
func (p *ratePlot) same(a, b cost.Environment) bool {
	for _, s := range p.r.Subjects {
		for _, ttl := range p.r.TTLs {
			if s.At(p.r.Usage, a, ttl) != s.At(p.r.Usage, b, ttl) {
				return false
			}
		}
	}
	return true
}

// label says what the environments of a line do, and how often.
func (p *ratePlot) label(l rateLine) string {
	var names []string
	for _, e := range l.environments {
		names = append(names, e.ID)
	}
	var what []string
	for _, c := range l.environments[0].Causes {
		often := number(c.PerYear)
		if c.Assumed {
			often += "*"
		}
		one := c.Fault + " " + say(p.lang, "rate.once", "n", often)
		if c.Lengths.String() != "" {
			one += ", " + c.Lengths.String()
		}
		what = append(what, one)
	}
	return say(p.lang, "rate.legend.environment", "name", text.Join(p.lang, "chart.list", names), "causes", text.Join(p.lang, "grid.join", what))
}

func (p *ratePlot) scale() {
	most, least, longest := 1.0, 1.0, 1.0
	for _, s := range p.r.Series {
		for _, point := range s.Points {
			if point.TTL <= p.shade || point.Unknown {
				continue
			}
			most = max(most, point.Expected.Hi)
			if point.Expected.Hi > 0 {
				least = min(least, point.Expected.Hi)
			}
		}
	}
	for _, s := range p.r.Subjects {
		for _, ttl := range p.r.TTLs {
			if rec := s.Recovery(ttl, p.r.Hold); rec.Longest < cost.Forever {
				longest = max(longest, rec.Longest.Seconds())
			}
		}
	}
	p.top = math.Pow(10, math.Ceil(math.Log10(most*1.05)))
	p.low = min(math.Pow(10, math.Floor(math.Log10(least))), p.top/100)
	p.low = max(p.low, p.top/1e7)
	p.blocked = math.Pow(10, math.Ceil(math.Log10(longest)))
}

func (p *ratePlot) rows() int { return (len(p.groups) + 1 + rateColumns - 1) / rateColumns }

func (p *ratePlot) legendHeight() vg.Length { return smallSize*leading*vg.Length(len(p.legend)) + 6 }

func (p *ratePlot) height() vg.Length {
	return 2*margin + p.heading.height() + p.legendHeight() + ratePanel*vg.Length(p.rows()) + smallSize*leading*vg.Length(len(p.foot)) + 6
}

func (p *ratePlot) draw(c draw.Canvas) {
	left := c.Min.X + margin
	top := p.heading.draw(c, left, c.Max.Y-margin)
	for i, l := range p.lines {
		y := top - smallSize*leading*(vg.Length(i)+0.5)
		c.StrokeLine2(draw.LineStyle{Color: l.style.color, Width: 1.8, Dashes: l.style.dash}, left, y, left+26, y)
		c.DrawGlyph(draw.GlyphStyle{Color: l.style.color, Radius: 2.6, Shape: l.style.marker}, vg.Point{X: left + 13, Y: y})
		c.FillText(writing(smallSize, ink), vg.Point{X: left + 32, Y: y}, p.legend[i])
	}
	top -= p.legendHeight()
	width := (rateWidth - 2*margin) / rateColumns
	for i := range len(p.groups) + 1 {
		x, y := left+width*vg.Length(i%rateColumns), top-ratePanel*vg.Length(i/rateColumns)
		frame := box(x+rateLeft, y-ratePanel+rateBelow, x+width-8, y-rateTitle)
		if i < len(p.groups) {
			p.overlaps(c, frame, p.groups[i])
		} else {
			p.crashes(c, frame)
		}
	}
	y := top - ratePanel*vg.Length(p.rows()) - 6
	for i, line := range p.foot {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
	}
}

// x is the position of a TTL, on a logarithmic scale.
func (p *ratePlot) x(f vg.Rectangle, ttl time.Duration) vg.Length {
	first, last := p.r.TTLs[0].Seconds(), p.r.TTLs[len(p.r.TTLs)-1].Seconds()
	return f.Min.X + f.Size().X*vg.Length(math.Log(ttl.Seconds()/first)/math.Log(last/first))
}

// logY is the position of a value on a logarithmic scale from low to top above the strip
// for none.
func logY(f vg.Rectangle, low, top, value float64) vg.Length {
	if value <= 0 {
		return f.Min.Y + rateZero/2 - 2
	}
	share := math.Log(max(value, low)/low) / math.Log(top/low)
	return f.Min.Y + rateZero + (f.Size().Y-rateZero)*vg.Length(min(share, 1))
}

// axes draws the frame of a panel, with the powers of ten from low to top.
func (p *ratePlot) axes(c draw.Canvas, f vg.Rectangle, title, unit string, low, top float64, zero string) {
	c.FillText(bold(writing(textSize, ink)), vg.Point{X: f.Min.X - rateLeft, Y: f.Max.Y + 26}, fitText(bold(writing(textSize, ink)), title, f.Size().X+rateLeft))
	c.FillText(writing(smallSize, faintInk), vg.Point{X: f.Min.X - rateLeft, Y: f.Max.Y + 13}, unit)
	if zero != "" {
		fillBox(c, box(f.Min.X, f.Min.Y, f.Max.X, f.Min.Y+rateZero-4), stripe)
	}
	if p.shade > p.r.TTLs[0] {
		fillBox(c, box(f.Min.X, f.Min.Y, min(p.x(f, p.shade), f.Max.X), f.Max.Y), paleGrey)
	}
	grid := draw.LineStyle{Color: hairline, Width: 0.5}
	right := aligned(writing(smallSize, ink), draw.XRight)
	every := 1.0
	if decades := math.Log10(top / low); decades > 6 {
		every = 2
	}
	for e := math.Log10(low); e <= math.Log10(top)+0.5; e += every {
		y := logY(f, low, top, math.Pow(10, e))
		c.StrokeLine2(grid, f.Min.X, y, f.Max.X, y)
		c.FillText(right, vg.Point{X: f.Min.X - 4, Y: y}, number(math.Round(math.Pow(10, e)*1e6)/1e6))
	}
	if zero != "" {
		c.FillText(right, vg.Point{X: f.Min.X - 4, Y: f.Min.Y + rateZero/2 - 2}, zero)
	}
	last := vg.Length(-100)
	center := aligned(writing(smallSize, ink), draw.XCenter)
	for _, ttl := range p.r.TTLs {
		x, label := p.x(f, ttl), tick(ttl)
		c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.5}, x, f.Min.Y, x, f.Min.Y-3)
		if half := center.Width(label) / 2; x-half > last+4 {
			c.FillText(center, vg.Point{X: x, Y: f.Min.Y - 9}, label)
			last = x + half
		}
	}
	c.FillText(aligned(writing(smallSize, faintInk), draw.XRight), vg.Point{X: f.Max.X, Y: f.Min.Y - 20}, say(p.lang, "rate.axis.ttl"))
	c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.5}, f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
}

// tick writes a TTL for an axis.
func tick(ttl time.Duration) string {
	if s := ttl.Seconds(); s >= 1 && s < 300 {
		return decimal(s) + "s"
	}
	return length(ttl)
}

// steps is how many TTLs a curve has.
const steps = 240

// curve are TTLs from the first to the last, evenly on the scale.
func (p *ratePlot) curve() (ttls []time.Duration) {
	first, last := p.r.TTLs[0].Seconds(), p.r.TTLs[len(p.r.TTLs)-1].Seconds()
	for i := range steps + 1 {
		ttls = append(ttls, time.Duration(first*math.Pow(last/first, float64(i)/steps)*float64(time.Second)))
	}
	return ttls
}

func (p *ratePlot) overlaps(c draw.Canvas, f vg.Rectangle, group []int) {
	p.axes(c, f, p.r.head(group), say(p.lang, "rate.axis.overlaps"), p.low, p.top, "0")
	s := p.r.Subjects[group[0]]
	if len(s.Lease.Spans) == 0 {
		c.FillText(aligned(writing(textSize, faintInk), draw.XCenter), vg.Point{X: (f.Min.X + f.Max.X) / 2, Y: (f.Min.Y + f.Max.Y) / 2}, say(p.lang, "rate.untold"))
		return
	}
	for i, l := range p.lines {
		var line, bound []vg.Point
		shift := (vg.Length(i) - vg.Length(len(p.lines)-1)/2) * 2.2 // of lines that lie at zero together
		flush := func() {
			c.StrokeLines(draw.LineStyle{Color: l.style.color, Width: 1.8, Dashes: l.style.dash}, line)
			c.StrokeLines(draw.LineStyle{Color: l.style.color, Width: 1.1, Dashes: []vg.Length{1, 2.4}}, bound)
			line, bound = nil, nil
		}
		marked := -steps
		for n, ttl := range p.curve() {
			if ttl < p.shade {
				continue
			}
			point := p.expected(s, l, ttl)
			if point.Unknown {
				flush()
				continue
			}
			at := vg.Point{X: p.x(f, ttl), Y: logY(f, p.low, p.top, point.Expected.Hi)}
			if point.Expected.Hi == 0 {
				at.Y += shift
			}
			exact := point.Expected.Lo == point.Expected.Hi
			if exact {
				if len(bound) > 0 {
					bound = append(bound, at)
					flush()
				}
				line = append(line, at)
			} else {
				if len(line) > 0 {
					line = append(line, at)
					flush()
				}
				bound = append(bound, at)
			}
			if n-marked >= steps/5 && n > steps/40*(i+1) {
				marked = n
				c.DrawGlyph(draw.GlyphStyle{Color: l.style.color, Radius: 2.6, Shape: l.style.marker}, at)
			}
		}
		flush()
	}
}

// expected is what is expected of one lock in the environments of a line, slow work aside.
func (p *ratePlot) expected(s *cost.Subject, l rateLine, ttl time.Duration) cost.Point {
	return s.At(p.r.Usage, l.environments[0], ttl)
}

func (p *ratePlot) crashes(c draw.Canvas, f vg.Rectangle) {
	low := math.Pow(10, math.Floor(math.Log10(p.r.TTLs[0].Seconds()/2)))
	top := p.blocked
	p.axes(c, f, say(p.lang, "rate.panel.crash"), say(p.lang, "rate.axis.blocked")+" (s)", low, top, "")
	style := writing(smallSize, ink)
	var taken []vg.Length
	for i, g := range p.groups {
		s, st := p.r.Subjects[g[0]], styleOf(p.r.Subjects[g[0]].Entry.ID)
		if len(s.Lease.Spans) == 0 {
			continue
		}
		var mean []vg.Point
		for _, ttl := range p.curve() {
			if ttl < p.shade {
				continue
			}
			y := f.Max.Y - 5
			if rec := s.Recovery(ttl, p.r.Hold); rec.Mean < cost.Forever {
				y = logY(f, low, top, rec.Mean.Seconds())
			}
			mean = append(mean, vg.Point{X: p.x(f, ttl), Y: y})
		}
		c.StrokeLines(draw.LineStyle{Color: st.color, Width: 1.8, Dashes: st.dash}, mean)
		if len(mean) == 0 {
			continue
		}
		label := fitText(style, p.r.head(g), f.Size().X*0.8)
		if s.Recovery(p.r.TTLs[0], p.r.Hold).Mean == cost.Forever {
			at := mean[0].Add(vg.Point{X: 4, Y: -8})
			c.FillText(style, at, label+": "+say(p.lang, "rate.ever"))
			taken = append(taken, at.Y)
			continue
		}
		y := f.Min.Y + 8 + vg.Length(i)*11
		for slices.ContainsFunc(taken, func(t vg.Length) bool { return math.Abs(float64(t-y)) < 10 }) {
			y += 11
		}
		taken = append(taken, y)
		x := f.Max.X - 6
		c.FillText(aligned(style, draw.XRight), vg.Point{X: x - 26, Y: y}, label)
		c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 1.8, Dashes: st.dash}, x-22, y, x, y)
	}
}
