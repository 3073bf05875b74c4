package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/study"
)

// PNG draws the curves of all locks in one panel, with a key below.
func (s *Sensitivity) PNG(w io.Writer) error {
	p, err := s.picture()
	if err != nil {
		return err
	}
	return p.png(w)
}

// SVG draws the same as PNG.
func (s *Sensitivity) SVG(w io.Writer) error {
	p, err := s.picture()
	if err != nil {
		return err
	}
	return p.svg(w)
}

// The chart's measures, in points.
const (
	panelWidth  vg.Length = 600
	panelHeight vg.Length = 270
	panelGap    vg.Length = 12
	keyRow      vg.Length = 17
	keySample   vg.Length = 46 // of a line with its marker
)

func (s *Sensitivity) picture() (picture, error) {
	lang := pictured(s.Lang)
	panel, err := s.panel()
	if err != nil {
		return picture{}, err
	}
	width := 2*margin + panelWidth
	head := heading{title: s.Title(lang), takeaway: s.Takeaway(lang), axes: say(lang, "sensitivity.axes", "x", xLabel(lang), "y", say(lang, "sensitivity.y")), width: panelWidth}
	foot := foldText(writing(smallSize, ink), s.legend(), panelWidth)
	key := keyRow * vg.Length(len(s.Series))
	return picture{
		width:  width,
		height: 2*margin + head.height() + panelHeight + 2*panelGap + key + smallSize*leading*vg.Length(len(foot)),
		draw: func(c draw.Canvas) {
			left, top := c.Min.X+margin, head.draw(c, c.Min.X+margin, c.Max.Y-margin)
			panel.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: box(left, top-panelHeight, left+panelWidth, top)})
			y := top - panelHeight - panelGap
			for _, one := range s.Series {
				drawKey(c, lang, one, left, y-keyRow/2)
				y -= keyRow
			}
			y -= panelGap
			for i, line := range foot {
				c.FillText(writing(smallSize, ink), vg.Point{X: left, Y: y - smallSize*leading*(vg.Length(i)+0.5)}, line)
			}
		},
	}, nil
}

// drawKey draws the line of a lock, its name, and what its curve comes to.
func drawKey(c draw.Canvas, lang string, one study.Series, left, y vg.Length) {
	st := styleOf(one.Strategy)
	c.StrokeLine2(draw.LineStyle{Color: st.color, Width: 1.8, Dashes: st.dash}, left, y, left+keySample, y)
	c.DrawGlyph(draw.GlyphStyle{Color: st.color, Radius: 2.6, Shape: st.marker}, vg.Point{X: left + keySample/2, Y: y})
	name := bold(writing(textSize, ink))
	c.FillText(name, vg.Point{X: left + keySample + 8, Y: y}, one.Strategy)
	c.FillText(writing(smallSize, ink), vg.Point{X: left + keySample + 120, Y: y}, summary(lang, one))
}

func xLabel(lang string) string { return say(lang, "sensitivity.x") }

func (s *Sensitivity) legend() string {
	lang := pictured(s.Lang)
	return say(lang, "sensitivity.legend", "x", xLabel(lang), "assumptions", s.Assumptions(lang))
}

// scale is the smallest and largest X. Y is a share, and
// always runs from 0 to 1.
type scale struct{ min, max float64 }

func (s *Sensitivity) scale() scale {
	out := scale{math.Inf(1), math.Inf(-1)}
	for _, one := range s.Series {
		for _, p := range one.Points {
			out.min, out.max = math.Min(out.min, p.X), math.Max(out.max, p.X)
		}
	}
	if out.min >= out.max {
		return scale{0, math.Max(1, out.max)}
	}
	return out
}

// panel is the plot of all curves.
func (s *Sensitivity) panel() (*plot.Plot, error) {
	sc := s.scale()
	p := plot.New()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = sc.min, sc.max, 0, 1
	p.X.Label.Text = xLabel(pictured(s.Lang))
	plainAxis(&p.X)
	plainAxis(&p.Y)
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0 %"}, {Value: 0.25}, {Value: 0.5, Label: "50 %"}, {Value: 0.75}, {Value: 1, Label: "100 %"}}
	p.Add(faintLines{sc})
	for _, one := range s.Series {
		if err := addCurve(p, one); err != nil {
			return nil, fmt.Errorf("chart: drawing %s: %w", one.Strategy, err)
		}
	}
	p.Add(names{s})
	return p, nil
}

func addCurve(p *plot.Plot, one study.Series) error {
	if len(one.Points) == 0 {
		return nil
	}
	st := styleOf(one.Strategy)
	area, err := plotter.NewPolygon(band(one))
	if err != nil {
		return err
	}
	area.Color = color.NRGBA{st.color.R, st.color.G, st.color.B, 0x30}
	area.LineStyle.Width = 0
	line, dots, err := plotter.NewLinePoints(xys(one))
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: st.color, Width: 1.6, Dashes: st.dash}
	dots.GlyphStyle = draw.GlyphStyle{Color: st.color, Radius: 2.4, Shape: st.marker}
	p.Add(area, line, dots)
	return nil
}

func plainAxis(a *plot.Axis) {
	a.Padding = 4
	a.LineStyle.Color, a.LineStyle.Width = faintInk, 0.5
	a.Tick.LineStyle.Color, a.Tick.LineStyle.Width = faintInk, 0.5
	a.Tick.Length = 3
	label, align := writing(smallSize, ink), a.Tick.Label
	label.XAlign, label.YAlign = align.XAlign, align.YAlign
	a.Tick.Label = label
	name, align := writing(smallSize, ink), a.Label.TextStyle
	name.XAlign, name.YAlign = align.XAlign, align.YAlign
	a.Label.TextStyle = name
}

func xys(s study.Series) plotter.XYs {
	out := make(plotter.XYs, len(s.Points))
	for i, p := range s.Points {
		out[i].X, out[i].Y = p.X, share(p)
	}
	return out
}

// band runs along the lower ends of the intervals and back along the upper.
func band(s study.Series) plotter.XYs {
	n := len(s.Points)
	out := make(plotter.XYs, 2*n)
	for i, p := range s.Points {
		lo, hi := study.Wilson(p.K, p.N)
		out[i].X, out[i].Y = p.X, lo
		out[2*n-1-i].X, out[2*n-1-i].Y = p.X, hi
	}
	return out
}

// faintLines are the lines behind the data: quarters of the share, and a
// dashed one where the fault is as large as the TTL.
type faintLines struct{ scale scale }

func (g faintLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, share := range []float64{0.25, 0.5, 0.75, 1} {
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.5}, c.Min.X, y(share), c.Max.X, y(share))
	}
	if g.scale.min <= 1 && 1 <= g.scale.max {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{3, 3}}, x(1), y(0), x(1), y(1))
	}
}

// names are the locks beside their curves at half of the runs: those that get there first on
// the left, those that get there last on the right, where no curve is. Curves that cannot be
// told apart have one label.
type names struct{ s *Sensitivity }

func (n names) Plot(c draw.Canvas, p *plot.Plot) {
	type group struct {
		at    float64
		locks []string
	}
	var groups []group
	for _, alike := range n.s.alike() {
		if x, ok := halfway(n.s.Series[alike[0]]); ok {
			g := group{at: x}
			for _, i := range alike {
				g.locks = append(g.locks, n.s.Series[i].Strategy)
			}
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.at, b.at) })
	x, y := p.Transforms(&c)
	style := bold(writing(smallSize, ink))
	write := func(g group, side draw.XAlignment, away vg.Length) {
		for i, line := range foldText(style, text.Join(pictured(n.s.Lang), "chart.list", g.locks), 130) {
			c.FillText(aligned(style, side), vg.Point{X: x(g.at) + away, Y: y(0.62) - smallSize*leading*vg.Length(i)}, line)
		}
	}
	first, last := groups[0], groups[len(groups)-1]
	write(first, draw.XRight, -26)
	if len(groups) > 1 {
		write(last, draw.XLeft, 30)
	}
}

// halfway is where a curve first reaches one half.
func halfway(s study.Series) (float64, bool) {
	for i, p := range s.Points {
		if share(p) < 0.5 {
			continue
		}
		if i == 0 {
			return p.X, true
		}
		before := s.Points[i-1]
		return before.X + (p.X-before.X)*(0.5-share(before))/(share(p)-share(before)), true
	}
	return 0, false
}
