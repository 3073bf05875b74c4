package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/scenarios/study"
)

// PNG draws one panel a strategy, all on one scale.
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
	panelColumns           = 3
	panelWidth   vg.Length = 232
	panelHeight  vg.Length = 176
	panelGap     vg.Length = 12
)

func (s *Sensitivity) picture() (picture, error) {
	columns := max(1, min(panelColumns, len(s.Series)))
	rows := max(1, (len(s.Series)+columns-1)/columns)
	panels, err := s.panels(rows, columns)
	if err != nil {
		return picture{}, err
	}
	width := 2*margin + max(panelWidth*vg.Length(columns), 480)
	head := heading{title: s.Title("en"), takeaway: s.Takeaway("en"), axes: say("en", "sensitivity.axes", "x", xLabel(), "y", say("en", "sensitivity.y")), width: width - 2*margin}
	foot := foldText(writing(smallSize, ink), s.legend(), width-2*margin)
	footHeight := smallSize * leading * vg.Length(len(foot))
	body := panelHeight * vg.Length(rows)
	return picture{
		width:  width,
		height: 2*margin + head.height() + body + panelGap + footHeight,
		draw: func(c draw.Canvas) {
			top := head.draw(c, c.Min.X+margin, c.Max.Y-margin)
			tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: panelGap, PadY: panelGap}
			area := draw.Canvas{Canvas: c.Canvas, Rectangle: box(c.Min.X+margin, top-body, c.Max.X-margin, top)}
			for r, line := range plot.Align(panels, tiles, area) {
				for i, place := range line {
					if panels[r][i] != nil {
						panels[r][i].Draw(place)
					}
				}
			}
			for i, line := range foot {
				c.FillText(writing(smallSize, ink), vg.Point{X: c.Min.X + margin,
					Y: top - body - panelGap - smallSize*leading*(vg.Length(i)+0.5)}, line)
			}
		},
	}, nil
}

func xLabel() string { return say("en", "sensitivity.x") }

func (s *Sensitivity) legend() string {
	return say("en", "sensitivity.legend", "x", xLabel(), "assumptions", s.Assumptions("en"))
}

func (s *Sensitivity) panels(rows, columns int) ([][]*plot.Plot, error) {
	scale := s.scale()
	panels := make([][]*plot.Plot, rows)
	for r := range panels {
		panels[r] = make([]*plot.Plot, columns)
	}
	for i := range s.Series {
		p, err := panel(s.Series[i], scale)
		if err != nil {
			return nil, fmt.Errorf("chart: drawing %s: %w", s.Series[i].Strategy, err)
		}
		panels[i/columns][i%columns] = p
	}
	return panels, nil
}

// scale is what all panels share: the smallest and largest X. Y is a share, and
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

func panel(one study.Series, sc scale) (*plot.Plot, error) {
	st := styleOf(one.Strategy)
	p := plot.New()
	p.Title.Text = one.Strategy
	p.Title.TextStyle = bold(writing(textSize, ink))
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 5
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = sc.min, sc.max, 0, 1
	p.X.Label.Text = xLabel()
	plainAxis(&p.X)
	plainAxis(&p.Y)
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0 %"}, {Value: 0.25}, {Value: 0.5, Label: "50 %"}, {Value: 0.75}, {Value: 1, Label: "100 %"}}
	p.Add(faintLines{sc})
	if len(one.Points) == 0 {
		return p, nil
	}
	area, err := plotter.NewPolygon(band(one))
	if err != nil {
		return nil, err
	}
	area.Color = color.NRGBA{st.color.R, st.color.G, st.color.B, 0x48}
	area.LineStyle.Width = 0
	line, dots, err := plotter.NewLinePoints(xys(one))
	if err != nil {
		return nil, err
	}
	line.LineStyle = draw.LineStyle{Color: st.color, Width: 1.6, Dashes: st.dash}
	dots.GlyphStyle = draw.GlyphStyle{Color: st.color, Radius: 2.4, Shape: st.marker}
	p.Add(area, line, dots, note{one})
	return p, nil
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

// note is the label inside a panel: the largest share, or the bound. It is drawn
// where the curve is not: in the right half at mid-height, which a curve that
// rises crosses on its left, or at the top of a curve that does not rise.
type note struct{ series study.Series }

func (n note) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	style := bold(writing(smallSize, ink))
	text, at := zeroBound(n.series), vg.Point{X: c.Min.X + 6, Y: y(0.91)}
	if _, fell := onset(n.series); fell {
		text = say("en", "sensitivity.upto", "top", topShare(n.series))
		at = vg.Point{X: c.Max.X - style.Width(text) - 6, Y: y(0.38)}
	}
	fillBox(c, box(at.X-3, at.Y-6, at.X+style.Width(text)+3, at.Y+6), white)
	c.FillText(style, at, text)
}
