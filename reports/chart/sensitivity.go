package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Sensitivity draws the share of seeded runs with an overlap against the length of a
// pause in leases, for each lock.
type Sensitivity struct{ study.Sensitivity }

// Title says what the chart shows: from which length of a pause on two clients were inside.
func (s *Sensitivity) Title(lang string) string {
	groups := lists.Gather(s.fallen(), func(a, b study.Series) bool { return onset(a).X == onset(b).X })
	if groups == nil {
		return say(lang, "sensitivity.finding.none")
	}
	slices.SortStableFunc(groups, func(a, b []study.Series) int { return cmp.Compare(onset(a[0]).X, onset(b[0]).X) })
	title := say(lang, "sensitivity.finding", "x", decimal(onset(groups[0][0]).X))
	for _, g := range groups[1:] {
		title = say(lang, "sensitivity.finding.later", "first", title, "x", decimal(onset(g[0]).X), "locks", namesOf(lang, g))
	}
	return title
}

// fallen are the series in which the harm was seen.
func (s *Sensitivity) fallen() []study.Series {
	return lists.Pick(s.Series, func(one study.Series) bool { return onset(one).K > 0 })
}

func namesOf(lang string, all []study.Series) string {
	return text.Join(lang, "chart.list", lists.Each(all, func(s study.Series) string { return s.Strategy }))
}

// overlapping reports whether two series cannot be distinguished: their intervals overlap at every point.
func overlapping(a, b study.Series) bool {
	if len(a.Points) != len(b.Points) {
		return false
	}
	for i := range a.Points {
		lo, hi := study.Wilson(a.Points[i].K, a.Points[i].N)
		lo2, hi2 := study.Wilson(b.Points[i].K, b.Points[i].N)
		if hi < lo2 || hi2 < lo {
			return false
		}
	}
	return true
}

// endless reports whether a lock has no time to live: no pause can outlast it.
func endless(id string) bool {
	return slices.ContainsFunc(algorithms.All(), func(e lock.Entry) bool { return e.ID == id && e.Expiry == lock.ExpiryNone })
}

// Assumptions are those under which the shares are what they are.
func (s *Sensitivity) Assumptions(lang string) string {
	return say(lang, "sensitivity.assumptions", "runs", thousands(s.Runs), "work", workDuringPause(lang, s.Waits))
}

// Takeaway says what the chart shows: from which size of the fault each lock
// falls, how often at most, and what bound holds for those that never fell.
// Strategies whose intervals overlap are not ranked.
func (s *Sensitivity) Takeaway(lang string) string {
	var never, fell []string
	for _, one := range s.Series {
		switch at := onset(one); {
		case at.K > 0:
			fell = append(fell, say(lang, "sensitivity.from", "lock", one.Strategy, "x", decimal(at.X), "top", topShare(one)))
		case endless(one.Strategy):
			never = append(never, say(lang, "sensitivity.zero.endless", "lock", one.Strategy, "bound", zeroBound(one)))
		default:
			never = append(never, say(lang, "sensitivity.zero", "lock", one.Strategy, "bound", zeroBound(one)))
		}
	}
	return seenAndNever(lang, fell, never)
}

// seenAndNever joins what is said of locks that fell, and of those that never did.
func seenAndNever(lang string, fell, never []string) string {
	var parts []string
	if len(fell) > 0 {
		parts = append(parts, say(lang, "sensitivity.seen", "text", text.Join(lang, "grid.join", fell)))
	}
	if len(never) > 0 {
		parts = append(parts, say(lang, "sensitivity.never", "text", text.Join(lang, "grid.join", never)))
	}
	return text.Join(lang, "grid.both", parts)
}

// onset is the first point at which the harm was seen; K is 0 if it never was.
func onset(s study.Series) study.Point {
	return append(lists.Pick(s.Points, func(p study.Point) bool { return p.K > 0 }), study.Point{})[0]
}

// topShare is the largest share with its interval: "52 % (49-55)".
func topShare(s study.Series) string {
	p := slices.MaxFunc(s.Points, func(a, b study.Point) int { return cmp.Compare(share(a.K, a.N), share(b.K, b.N)) })
	return shareWithin(p.K, p.N)
}

// zeroBound is the bound that the largest point of a series without a hit gives.
func zeroBound(s study.Series) string {
	return neverIn(slices.Max(append(lists.Each(s.Points, func(p study.Point) int { return p.N }), 0)))
}

// records has one line a point, with its Wilson interval.
func (s *Sensitivity) records() [][]any {
	all := [][]any{header("strategy x k n share wilson_lo wilson_hi")}
	for _, one := range s.Series {
		for _, p := range one.Points {
			all = append(all, append([]any{one.Strategy, decimal(p.X)}, counted(p.K, p.N)...))
		}
	}
	return all
}

// text has a length of pause per line and a lock per column. Lines of many locks are
// wider than the output.
func (s *Sensitivity) text(out *layout.Lines) {
	line := func(first string, cell func(one study.Series) string) {
		whole := fmt.Sprintf("%10s", first)
		for _, one := range s.Series {
			whole += fmt.Sprintf("  %12s", cell(one))
		}
		out.PutWhole(whole)
	}
	show(out, saying(s.Title, s.Assumptions), func(*layout.Lines) {
		line("pause/TTL", func(one study.Series) string { return one.Strategy })
		if len(s.Series) == 0 {
			return
		}
		for i, p := range s.Series[0].Points {
			line(decimal(p.X), func(one study.Series) string { return fmt.Sprintf("%d/%d", one.Points[i].K, one.Points[i].N) })
		}
	}, saying(s.Takeaway))
}

// Finding is the title: it says what was found.
func (s *Sensitivity) Finding(lang string) string { return s.Title(lang) }

// picture has the curves of all locks in one panel, with their names beside them.
func (s *Sensitivity) picture(f Format) picture {
	axis := say(f.Lang, "sensitivity.x")
	below := []string{say(f.Lang, "sensitivity.axes", "x", axis, "y", say(f.Lang, "sensitivity.y")), s.Assumptions(f.Lang)}
	shown := &Sensitivity{s.Sensitivity}
	shown.Series = s.Series[:min(len(s.Series), maxSeries)]
	return f.fitted(s, below, 0, func(width vg.Length) []block {
		key := legend(lists.Each(shown.Series, func(one study.Series) string { return one.Strategy }), 28, 12, func(c draw.Canvas, i int, x, y vg.Length) {
			sample(c, styleOf(shown.Series[i].Strategy), x, x+24, y)
		})
		return []block{key, growing(150, shown.panel(f.Lang, axis).Draw)}
	})
}

// Notes implements Chart.
func (s *Sensitivity) Notes(lang string) []string {
	return []string{seriesLeft(lang, min(len(s.Series), maxSeries), len(s.Series)), say(lang, "sensitivity.legend", "x", say(lang, "sensitivity.x"), "assumptions", s.Assumptions(lang))}
}

// scale is the smallest and largest X. Y is a share, and always runs from 0 to 1.
func (s *Sensitivity) scale() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, one := range s.Series {
		for _, p := range one.Points {
			low, high = min(low, p.X), max(high, p.X)
		}
	}
	if low >= high {
		return 0, max(1, high)
	}
	return low, high
}

// panel is the plot of all curves.
func (s *Sensitivity) panel(lang, axis string) *plot.Plot {
	p := plot.New()
	p.X.Min, p.X.Max = s.scale()
	p.Y.Min, p.Y.Max = 0, 1
	p.X.Label.Text = axis
	plainAxis(&p.X)
	plainAxis(&p.Y)
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0 %"}, {Value: 0.25}, {Value: 0.5, Label: "50 %"}, {Value: 0.75}, {Value: 1, Label: "100 %"}}
	p.Add(quarters{})
	for _, one := range s.Series {
		if len(one.Points) > 0 {
			p.Add(withIntervals(styleOf(one.Strategy), 0x30, 2.4, one.Points)...)
		}
	}
	p.Add(beside{s, lang})
	return p
}

// withIntervals is a curve over the area between the lower and the upper ends of its intervals.
func withIntervals(st style, alpha uint8, radius vg.Length, points []study.Point) []plot.Plotter {
	var line, area plotter.XYs
	for _, p := range points {
		lo, _ := study.Wilson(p.K, p.N)
		area = append(area, plotter.XY{X: p.X, Y: lo})
		line = append(line, plotter.XY{X: p.X, Y: share(p.K, p.N)})
	}
	for _, p := range slices.Backward(points) {
		_, hi := study.Wilson(p.K, p.N)
		area = append(area, plotter.XY{X: p.X, Y: hi})
	}
	return []plot.Plotter{
		&plotter.Polygon{XYs: []plotter.XYs{area}, Color: st.pale(alpha)},
		&plotter.Line{XYs: line, LineStyle: st.line(1.6)},
		&plotter.Scatter{XYs: line, GlyphStyle: st.glyph(radius)},
	}
}

func plainAxis(a *plot.Axis) {
	a.Padding = 4
	a.LineStyle = draw.LineStyle{Color: faintInk, Width: 0.5}
	a.Tick.LineStyle, a.Tick.Length = a.LineStyle, 3
	for _, style := range []*draw.TextStyle{&a.Tick.Label, &a.Label.TextStyle} {
		style.Color, style.Font, style.Handler = small.Color, small.Font, small.Handler
	}
}

// quarters are the lines behind the data: quarters of the share, and a
// dashed one where the fault is as large as the TTL.
type quarters struct{}

func (quarters) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, share := range []float64{0.25, 0.5, 0.75, 1} {
		c.StrokeLine2(hairlines, c.Min.X, y(share), c.Max.X, y(share))
	}
	if p.X.Min <= 1 && 1 <= p.X.Max {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{3, 3}}, x(1), y(0), x(1), y(1))
	}
}

// beside are the locks beside their curves at half of the runs: those that get there first on
// the left, those that get there last on the right, where no curve is. Curves whose
// intervals overlap have one label.
type beside struct {
	s    *Sensitivity
	lang string
}

func (n beside) Plot(c draw.Canvas, p *plot.Plot) {
	halves := func(g []study.Series) bool { return !math.IsInf(halfway(g[0]), 1) }
	groups := lists.Pick(lists.Gather(n.s.Series, overlapping), halves)
	if len(groups) == 0 {
		return
	}
	slices.SortStableFunc(groups, func(a, b []study.Series) int { return cmp.Compare(halfway(a[0]), halfway(b[0])) })
	x, y := p.Transforms(&c)
	label := func(g []study.Series, side draw.XAlignment, away vg.Length) {
		for i, line := range foldText(smallStrong, namesOf(n.lang, g), 130) {
			write(c, aligned(smallStrong, side), x(halfway(g[0]))+away, y(0.62)-smallLine*vg.Length(i), line)
		}
	}
	label(groups[0], draw.XRight, -26)
	if len(groups) > 1 {
		label(groups[len(groups)-1], draw.XLeft, 30)
	}
}

// halfway returns the place at which a curve first reaches one half; infinite if it never does.
func halfway(s study.Series) float64 {
	i := slices.IndexFunc(s.Points, func(p study.Point) bool { return share(p.K, p.N) >= 0.5 })
	switch i {
	case -1:
		return math.Inf(1)
	case 0:
		return s.Points[0].X
	}
	before, p := s.Points[i-1], s.Points[i]
	low, high := share(before.K, before.N), share(p.K, p.N)
	return before.X + (p.X-before.X)*(0.5-low)/(high-low)
}
