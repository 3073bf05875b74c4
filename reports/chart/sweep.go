package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Sweep draws the share of seeded runs that end in some verdicts, against one setting as
// curves or against two as heat maps, for each lock.
type Sweep struct{ study.Sweep }

// Title says what the chart shows.
func (s *Sweep) Title(lang string) string {
	return say(lang, "sweep.title", "verdicts", text.Join(lang, "sweep.or", verdict.Names(s.Order.Words)),
		"axes", text.Join(lang, "sweep.axes", lists.Each(s.Order.Axes, study.Axis.Name)))
}

// Assumptions are those under which the shares are what they are.
func (s *Sweep) Assumptions(lang string) string {
	of := s.Order.Situation(nil)
	varied := func(name string) bool {
		return slices.ContainsFunc(s.Order.Axes, func(a study.Axis) bool { return a.Setting.Name == name })
	}
	unlessVaried := func(name, value string) string {
		if varied(name) {
			return say(lang, "sweep.varied")
		}
		return value
	}
	work := say(lang, "sweep.work.fixed", "work", say(lang, "work.usual"))
	switch {
	case varied("work"):
		work = say(lang, "sweep.work.axis")
	case of.WholeLease:
		work = say(lang, "sweep.work.lease")
	case of.Work > 0:
		work = say(lang, "sweep.work.fixed", "work", length(of.Work))
	case of.Renewal > 0 || varied("renewal"):
		work = say(lang, "sweep.work.fixed", "work", say(lang, "sweep.work.three"))
	}
	parts := []string{say(lang, "sweep.base", "runs", thousands(s.Order.Runs), "work", work,
		"clients", unlessVaried("clients", strconv.Itoa(of.Clients)), "ttl", unlessVaried("ttl", length(of.TTL)),
		"retry", unlessVaried("retry", length(of.Retry)))}
	if of.Pause > 0 || varied("pause") {
		parts[0] = say(lang, "grid.both", "first", parts[0], "next", workDuringPause(lang, of.Waits || of.WholeLease))
	}
	what := func(name, setting string) {
		if text.In(lang).Has("sweep.what." + setting) {
			parts = append(parts, say(lang, "sweep.what", "name", name, "what", say(lang, "sweep.what."+setting)))
		}
	}
	for _, a := range s.Order.Axes {
		what(a.Name(), a.Setting.Name)
	}
	for _, v := range s.Order.Fixed {
		what(v.String(), v.Setting.Name)
	}
	return text.Join(lang, "grid.both", parts)
}

// workDuringPause says what a pause does to the work of a client.
func workDuringPause(lang string, waits bool) string {
	if waits {
		return say(lang, "sweep.pause.waits")
	}
	return say(lang, "sweep.pause.computes")
}

// Takeaway says where each lock failed, how often at most, and what bound holds for those
// that never did. Shares whose intervals overlap are not ranked.
func (s *Sweep) Takeaway(lang string) string {
	var seen, never []string
	for _, one := range s.Series {
		hits := lists.Pick(one.Points, func(p study.SweepPoint) bool { return p.K > 0 })
		switch runs := slices.Max(append(lists.Each(one.Points, func(p study.SweepPoint) int { return p.N }), 0)); {
		case runs == 0:
		case len(hits) == 0:
			never = append(never, say(lang, "sweep.zero", "lock", one.Strategy, "bound", neverIn(runs)))
		default:
			seen = append(seen, s.where(lang, one, hits))
		}
	}
	if len(seen)+len(never) == 0 {
		return say(lang, "sweep.nothing")
	}
	var parts []string
	if len(seen) > 0 {
		parts = append(parts, say(lang, "sweep.seen", "text", text.Join(lang, "grid.join", seen)))
	}
	if len(never) > 0 {
		parts = append(parts, say(lang, "sweep.never", "text", text.Join(lang, "grid.join", never)))
	}
	return text.Join(lang, "grid.both", parts)
}

// where says at which values a lock failed.
func (s *Sweep) where(lang string, one study.SweepSeries, hits []study.SweepPoint) string {
	most := slices.MaxFunc(hits, func(a, b study.SweepPoint) int { return cmp.Compare(share(a.K, a.N), share(b.K, b.N)) })
	top := shareWithin(most.K, most.N)
	if len(s.Order.Axes) == 2 {
		return say(lang, "sweep.map", "lock", one.Strategy, "hits", strconv.Itoa(len(hits)), "points", strconv.Itoa(len(one.Points)), "top", top,
			"x", s.Order.Axes[0].Name()+"="+s.Order.Axes[0].Format(most.At[0]), "y", s.Order.Axes[1].Name()+"="+s.Order.Axes[1].Format(most.At[1]))
	}
	a := s.Order.Axes[0]
	first, last := hits[0].At[0], hits[len(hits)-1].At[0]
	key, left, right := "sweep.between", one.Points[0].At[0] == first, one.Points[len(one.Points)-1].At[0] == last
	switch {
	case left && right && len(hits) == len(one.Points):
		key = "sweep.everywhere"
	case left && right:
		key = "sweep.both"
	case right:
		key = "sweep.from"
	case left:
		key = "sweep.upto"
	case first == last:
		key = "sweep.only"
	}
	clean := "" // the last value at which nothing was seen
	if i := firstSeen(one); i > 0 {
		clean = a.Format(one.Points[i-1].At[0])
	}
	return say(lang, key, "lock", one.Strategy, "x", a.Format(first), "y", a.Format(last), "top", top, "clean", clean)
}

// notApplicable says why locks were not played.
func (s *Sweep) notApplicable(lang string) []string {
	return lists.Each(s.unplayed(), func(one study.SweepSeries) string {
		return say(lang, "sweep.na", "lock", one.Strategy, "why", say(lang, "na."+string(one.NA)))
	})
}

func (s *Sweep) unplayed() []study.SweepSeries {
	return lists.Pick(s.Series, func(one study.SweepSeries) bool { return one.NA != "" })
}

func (s *Sweep) played() []study.SweepSeries {
	return lists.Pick(s.Series, func(one study.SweepSeries) bool { return len(one.Points) > 0 })
}

// records has one line a point, with its Wilson interval.
func (s *Sweep) records() [][]any {
	axes := lists.Each(s.Order.Axes, func(a study.Axis) any { return a.Name() + " (" + a.Unit() + ")" })
	all := [][]any{slices.Concat(row("strategy"), axes, row("k", "n", "share", "wilson_lo", "wilson_hi"))}
	for _, one := range s.Series {
		for _, p := range one.Points {
			all = append(all, slices.Concat(row(one.Strategy), row(lists.Each(p.At, decimal)...), counted(p.K, p.N)))
		}
	}
	return all
}

func (s *Sweep) data() object {
	return object{"sweep", strings.Join(lists.Each(s.Order.Axes, study.Axis.Name), ", "),
		"axes", lists.Each(s.Order.Axes, func(a study.Axis) object {
			return object{"setting", a.Setting.Name, "unit", a.Unit()}
		}),
		"verdicts", s.Order.Words, "assumptions", s.Assumptions("en"), "takeaway", s.Takeaway("en"), "series", s.Series}
}

// text has a value per line and a lock per column; with two settings a table a lock.
func (s *Sweep) text(out *layout.Lines) {
	tables := func(out *layout.Lines) {
		if len(s.Order.Axes) == 1 {
			s.table(out)
		} else {
			for _, one := range s.played() {
				out.Put(one.Strategy, 0)
				s.table2(one)(out)
				out.Put("", 0)
			}
		}
		for _, one := range s.unplayed() {
			out.Put(sayAll(out, "sweep.na", "lock", one.Strategy, "why", sayAll(out, "na."+string(one.NA))), 0)
		}
	}
	show(out, saying(s.Title, s.Assumptions), tables, saying(s.Takeaway))
}

// table has a line for each value that some lock was looked at.
func (s *Sweep) table(out *layout.Lines) {
	axis := s.Order.Axes[0]
	var xs []float64
	for _, one := range s.Series {
		xs = append(xs, lists.Each(one.Points, func(p study.SweepPoint) float64 { return p.At[0] })...)
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	names := lists.Each(s.Series, func(one study.SweepSeries) string { return one.Strategy })
	sheet := layout.Sheet{Right: layout.From(0), Floor: 6}
	crossing(sheet, axis.Name(), lists.Each(xs, axis.Format), names, func(i, n int) string {
		if p, ok := pointAt(s.Series[n], xs[i]); ok {
			return fmt.Sprintf("%d/%d", p.K, p.N)
		}
		return "."
	})(out)
}

// table2 is the table of one lock: the second setting down, the first across.
func (s *Sweep) table2(one study.SweepSeries) func(*layout.Lines) {
	x, y := s.Order.Axes[0], s.Order.Axes[1]
	down := slices.Clone(y.Values)
	slices.Reverse(down)
	return crossing(layout.Sheet{Right: layout.From(0), Floor: 4, Tight: true}, y.Name()+" \\ "+x.Name(),
		lists.Each(down, y.Format), lists.Each(x.Values, x.Format), func(i, n int) string {
			p, ok := pointAt(one, x.Values[n], down[i])
			if !ok {
				return ""
			}
			return percent(share(p.K, p.N)) + "%"
		})
}

func pointAt(one study.SweepSeries, at ...float64) (study.SweepPoint, bool) {
	i, ok := slices.BinarySearchFunc(one.Points, at, func(p study.SweepPoint, at []float64) int { return slices.Compare(p.At, at) })
	if !ok {
		return study.SweepPoint{}, false
	}
	return one.Points[i], true
}

// The measures of a sweep, in points.
const (
	sweepColumns           = 3
	sweepPanel   vg.Length = 96  // least height of a panel
	sweepMap     vg.Length = 150 // of one with two settings
	sweepTop     vg.Length = 20  // above its axes
	sweepLeft    vg.Length = 34  // beside them
	sweepBelow   vg.Length = 30
)

// tiny are the letters beside the panels of a sweep.
var tiny = writing(smallSize-0.5, ink)

// firstSeen is the index of the first point at which a lock failed; -1: none.
func firstSeen(one study.SweepSeries) int {
	return slices.IndexFunc(one.Points, func(p study.SweepPoint) bool { return p.K > 0 })
}

// Finding says between which values each lock begins to fail; the title, where there are two settings or nothing was
// seen.
func (s *Sweep) Finding(lang string) string {
	groups := lists.Gather(lists.Pick(s.Series, func(one study.SweepSeries) bool { return firstSeen(one) >= 0 }),
		func(a, b study.SweepSeries) bool { return firstSeen(a) == firstSeen(b) })
	if len(groups) == 0 || len(s.Order.Axes) > 1 {
		return s.Title(lang)
	}
	slices.SortStableFunc(groups, func(a, b []study.SweepSeries) int { return firstSeen(a[0]) - firstSeen(b[0]) })
	axis := s.Order.Axes[0]
	parts := lists.Each(groups, func(g []study.SweepSeries) string {
		names := lists.Each(g, func(one study.SweepSeries) string { return one.Strategy })
		points, i := g[0].Points, firstSeen(g[0])
		key, clean := "sweep.finding.all", ""
		if i > 0 {
			key, clean = "sweep.finding.one", axis.Format(points[i-1].At[0])
		}
		return say(lang, key, "locks", text.Join(lang, "chart.list", names), "clean", clean,
			"x", axis.Format(points[i].At[0]))
	})
	return say(lang, "sweep.finding", "words", reports.Words(s.Order.Words), "name", axis.Name(), "from", text.Join(lang, "grid.join", parts))
}

// picture has a panel for each lock, all on one scale.
func (s *Sweep) picture(f Format) picture {
	lang, shown := f.Lang, s.played()
	shown = shown[:min(len(shown), maxSeries)]
	most, height, panel := sweepColumns, sweepPanel, s.curve
	if len(s.Order.Axes) == 2 {
		most, height, panel = 2, sweepMap, s.heat
	}
	lines := max(1, (len(shown)+most-1)/most)
	columns := max(1, (len(shown)+lines-1)/lines)
	all := panels(len(shown), columns, height, func(c draw.Canvas, i int) {
		f := draw.Crop(c, sweepLeft, -8, sweepBelow, -sweepTop)
		write(f, strong, f.Min.X, f.Max.Y+10, shown[i].Strategy)
		panel(f, shown[i])
	})
	return f.fitted(s, []string{s.Assumptions(lang)}, 0, func(vg.Length) []block { return []block{all} })
}

// Notes implements Chart.
func (s *Sweep) Notes(lang string) []string {
	legend := "sweep.legend"
	if len(s.Order.Axes) == 2 {
		legend = "sweep.legend.map"
	}
	return append([]string{seriesLeft(lang, min(len(s.played()), maxSeries), len(s.played())), say(lang, legend), s.Assumptions(lang)}, s.notApplicable(lang)...)
}

// ends are the first and the last value of an axis.
func ends(a study.Axis) (low, high float64) {
	low, high = slices.Min(a.Values), slices.Max(a.Values)
	if low == high {
		return low - 1, high + 1
	}
	return low, high
}

// ticksOf are values of an axis to label, n at most.
func ticksOf(a study.Axis, n int) []plot.Tick {
	ticks := slices.DeleteFunc(plot.DefaultTicks{}.Ticks(ends(a)), func(t plot.Tick) bool {
		return t.Label == "" || a.Setting.Unit == study.Number && t.Value != math.Trunc(t.Value)
	})
	for i := range ticks {
		ticks[i].Label = a.Format(ticks[i].Value)
	}
	for len(ticks) > n {
		seen := 0
		ticks = slices.DeleteFunc(ticks, func(plot.Tick) bool {
			seen++
			return seen%2 == 0
		})
	}
	return ticks
}

func (s *Sweep) curve(f draw.Canvas, one study.SweepSeries) {
	axis, scale := s.Order.Axes[0], plot.New()
	rulesY(f, tiny, f.Y, []plot.Tick{{Value: 0, Label: "0 %"}, {Value: 0.5, Label: "50 %"}, {Value: 1, Label: "100 %"}})
	scale.X.Min, scale.X.Max = ends(axis)
	scale.Y.Min, scale.Y.Max = 0, 1
	x, _ := scale.Transforms(&f)
	marksX(f, tiny, 8, x, ticksOf(axis, 5))
	write(f, aligned(faint, draw.XRight), f.Max.X, f.Min.Y-19, axis.Name())
	for _, part := range withIntervals(styleOf(one.Strategy), one.Points) {
		part.Plot(f, scale)
	}
}

// withIntervals is a curve over the area between the lower and the upper ends of its intervals.
func withIntervals(st style, points []study.SweepPoint) []plot.Plotter {
	var line, area plotter.XYs
	for _, p := range points {
		lo, _ := study.Wilson(p.K, p.N)
		area = append(area, plotter.XY{X: p.At[0], Y: lo})
		line = append(line, plotter.XY{X: p.At[0], Y: share(p.K, p.N)})
	}
	for _, p := range slices.Backward(points) {
		_, hi := study.Wilson(p.K, p.N)
		area = append(area, plotter.XY{X: p.At[0], Y: hi})
	}
	return []plot.Plotter{
		&plotter.Polygon{XYs: []plotter.XYs{area}, Color: st.pale(0x48)},
		&plotter.Line{XYs: line, LineStyle: st.line(1.6)},
		&plotter.Scatter{XYs: line, GlyphStyle: st.glyph(1.8)},
	}
}

// heat draws a cell for each point. A point at which nothing was seen is empty.
func (s *Sweep) heat(f draw.Canvas, one study.SweepSeries) {
	across, down := s.Order.Axes[0], s.Order.Axes[1]
	xs, ys := across.Values, down.Values
	w, h := f.Size().X/vg.Length(len(xs)), f.Size().Y/vg.Length(len(ys))
	for i, x := range xs {
		for j, y := range ys {
			if p, ok := pointAt(one, x, y); ok && p.K > 0 {
				left, bottom := f.Min.X+w*vg.Length(i), f.Min.Y+h*vg.Length(j)
				drawHeat(f, box(left, bottom, f.Min.X+w*vg.Length(i+1), f.Min.Y+h*vg.Length(j+1)), share(p.K, p.N))
			}
		}
	}
	strokeBox(f, f.Rectangle, hairline, 0.5)
	for i := 0; i < len(xs); i += (len(xs) + 5) / 6 {
		write(f, aligned(tiny, draw.XCenter), f.Min.X+w*(vg.Length(i)+0.5), f.Min.Y-8, across.Format(xs[i]))
	}
	for i := 0; i < len(ys); i += (len(ys) + 7) / 8 {
		write(f, aligned(tiny, draw.XRight), f.Min.X-4, f.Min.Y+h*(vg.Length(i)+0.5), down.Format(ys[i]))
	}
	write(f, aligned(faint, draw.XRight), f.Max.X, f.Min.Y-19, across.Name())
	write(f, aligned(faint, draw.XRight), f.Max.X, f.Max.Y+10, "↑ "+down.Name())
}

// drawHeat fills a cell with a colour that grows darker with a share: one hue, so that lightness tells.
func drawHeat(c draw.Canvas, cell vg.Rectangle, share float64) {
	from, to := color.NRGBA{0xfd, 0xe0, 0xc5, 0xff}, color.NRGBA{0x7a, 0x1f, 0x00, 0xff}
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	fillBox(c, cell, color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff})
	style := aligned(writing(smallSize-2, black), draw.XCenter)
	if share > 0.55 {
		style.Color = white
	}
	if label := percent(share); style.Width(label) < cell.Size().X-1 && cell.Size().Y > 7 {
		write(c, style, (cell.Min.X+cell.Max.X)/2, (cell.Min.Y+cell.Max.Y)/2, label)
	}
}
