package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Sweep draws the share of seeded runs that end in some verdicts, against one setting as
// curves or against two as heat maps, for each lock.
type Sweep struct{ study.Sweep }

// Name is that of Result.
func (s *Sweep) Name() string { return "sweep" }

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
		parts[0] = say(lang, "part.sentences", "first", parts[0], "next", workDuringPause(lang, of.Waits || of.WholeLease))
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
	return text.Join(lang, "part.sentences", parts)
}

// workDuringPause says what a pause does to the work of a client.
func workDuringPause(lang string, waits bool) string {
	if waits {
		return say(lang, "sweep.pause.waits")
	}
	return say(lang, "sweep.pause.computes")
}

// notApplicable says why locks were not played.
func (s *Sweep) notApplicable(lang string) []string {
	return lists.Each(s.unplayed(), func(one study.SweepSeries) string {
		return say(lang, "sweep.na", "lock", one.Lock, "why", say(lang, "na."+string(one.NA)))
	})
}

func (s *Sweep) unplayed() []study.SweepSeries {
	return lists.Pick(s.Series, func(one study.SweepSeries) bool { return one.NA != "" })
}

func (s *Sweep) played() []study.SweepSeries {
	return lists.Pick(s.Series, func(one study.SweepSeries) bool { return len(one.Points) > 0 })
}

// Table has one row a point, with its Wilson interval.
func (s *Sweep) Table() *Table {
	type at struct {
		lock string
		study.SweepPoint
	}
	var points []at
	for _, one := range s.Series {
		for _, p := range one.Points {
			points = append(points, at{one.Lock, p})
		}
	}
	axes := lists.Each(s.Order.Axes, func(a study.Axis) string { return a.Name() + ":" + a.Unit() })
	return tableOf("lock "+strings.Join(axes, " ")+" k n share wilson_lo wilson_hi", points, func(p at) []any {
		return slices.Concat([]any{p.lock}, lists.Each(p.At, func(v float64) any { return whole(v) }), counted(p.K, p.N))
	})
}

// more has what is counted, and why locks were not played.
func (s *Sweep) more() map[string]any {
	reasons := map[string]string{}
	for _, one := range s.unplayed() {
		reasons[one.Lock] = string(one.NA)
	}
	return map[string]any{"verdicts": s.Order.Words, "not_applicable": reasons}
}

// firstSeen is the index of the first point at which a lock failed; -1: none.
func firstSeen(one study.SweepSeries) int {
	return slices.IndexFunc(one.Points, func(p study.SweepPoint) bool { return p.K > 0 })
}

// half returns the two values nearest to zero between which the share of runs that fail comes to a half; both are the
// same where it is there from the first one on, and NaN where at no value that was looked at.
func half(points []point) (low, high float64) {
	low, high = math.NaN(), math.NaN()
	for i, p := range points {
		before := points[max(i-1, 0)]
		if before.y < 0.5 && p.y < 0.5 {
			continue
		}
		if before.y >= 0.5 && p.y >= 0.5 {
			before = p
		}
		if !(math.Abs(before.x+p.x) >= math.Abs(low+high)) {
			low, high = before.x, p.x
		}
	}
	return low, high
}

// between writes the two values of half.
func between(lang string, axis study.Axis, points []point) string {
	low, high := half(points)
	if low == high {
		return axis.Format(high)
	}
	return say(lang, "sweep.between", "low", axis.Format(low), "high", axis.Format(high))
}

// Finding says at which value half of the runs of each lock fail, and of which locks none do; of two settings, where
// most do.
func (s *Sweep) Finding(lang string) string {
	type fall struct {
		lock, at string
		share    float64
	}
	axis, played := s.Order.Axes[0], s.played()
	seen := lists.Pick(played, func(one study.SweepSeries) bool { return firstSeen(one) >= 0 })
	if len(seen) == 0 {
		return say(lang, "sweep.none", "words", reports.Words(s.Order.Words), "runs", thousands(s.Order.Runs))
	}
	words := reports.Words(s.Order.Words)
	if len(s.Order.Axes) > 1 {
		n := max(slices.IndexFunc(s.Order.Axes, func(a study.Axis) bool { return a.Setting.Fault }), 0)
		hits := lists.Each(seen, func(one study.SweepSeries) string {
			failed := lists.Pick(one.Points, func(p study.SweepPoint) bool { return p.K > 0 })
			least := slices.MinFunc(failed, func(a, b study.SweepPoint) int {
				return cmp.Compare(math.Abs(a.At[n]), math.Abs(b.At[n]))
			})
			return say(lang, "sweep.finding.half", "x", s.Order.Axes[n].Format(least.At[n]), "locks", one.Lock)
		})
		return say(lang, "sweep.finding.map", "words", words, "parts", text.Join(lang, "chart.list", hits),
			"name", s.Order.Axes[n].Name())
	}
	falls := lists.Each(played, func(one study.SweepSeries) fall {
		points := lists.Each(one.Points, func(p study.SweepPoint) point { return point{x: p.At[0], y: share(p.K, p.N)} })
		low, high := half(points)
		if math.IsNaN(high) {
			return fall{one.Lock, "", highest(one)}
		}
		return fall{one.Lock, between(lang, axis, points), math.Abs(low + high)}
	})
	slices.SortStableFunc(falls, func(a, b fall) int { return cmp.Compare(a.share, b.share) })
	name := func(of []fall) string {
		return firstNames(lang, lists.Each(of, func(f fall) string { return f.lock }), titleLocks)
	}
	reached := lists.Pick(falls, func(f fall) bool { return f.at != "" })
	var parts []string
	for _, g := range lists.Gather(reached, func(a, b fall) bool { return a.at == b.at }) {
		parts = append(parts, say(lang, "sweep.finding.half", "x", g[0].at, "locks", name(g)))
	}
	if below := lists.Pick(falls, func(f fall) bool { return f.at == "" && f.share > 0 }); below != nil {
		parts = append(parts, say(lang, "sweep.finding.most", "top", percent(below[len(below)-1].share), "locks",
			name(below)))
	}
	_, hi := study.Wilson(0, s.Order.Runs)
	if never := lists.Pick(falls, func(f fall) bool { return f.at == "" && f.share == 0 }); never != nil {
		parts = append(parts, say(lang, "sweep.finding.never", "locks", name(never), "runs", thousands(s.Order.Runs),
			"bound", bound(hi)))
	}
	return say(lang, "sweep.finding", "words", words, "name", axis.Name(), "parts", text.Join(lang, "chart.list", parts))
}

// highest is the largest share of runs of a lock that fail at a point.
func highest(one study.SweepSeries) float64 {
	return slices.Max(append(lists.Each(one.Points, func(p study.SweepPoint) float64 { return share(p.K, p.N) }), 0))
}

// Notes implements Result.
func (s *Sweep) Notes(lang string) []string {
	return append([]string{say(lang, "sweep.note")}, s.notApplicable(lang)...)
}

// axisOf is the axis of a column, to write its values.
func axisOf(column Head) study.Axis {
	axis, err := study.ParseAxis(column.Name)
	if err != nil {
		axis.PerTTL = true // of no setting of this version: plain numbers
	}
	return axis
}

// viewSweep has a line for each value, or two, and a lock a column: how many of how many runs.
func viewSweep(c *Chart, _ string) *Table {
	axes := lists.Pick(c.Table.Columns[1:3], func(h Head) bool { return h.Name != "k" })
	keys := lists.Each(axes, func(h Head) string { return h.Name })
	t := across(c.Table.records(), keys, "lock", func(of []record) any {
		return of[0].text("k") + "/" + of[0].text("n")
	})
	for _, row := range t.Rows {
		for i, h := range axes {
			v, _ := strconv.ParseFloat(textOf(row[i]), 64)
			row[i] = axisOf(h).Format(v)
		}
	}
	return t
}

// drawSweep has a curve for each lock, and a name for those of which half fail at the same value; of two settings a map
// for each lock. Those that fail last stand out.
func drawSweep(c *Chart, lang string) frame {
	all, columns := c.Table.records(), c.Table.Columns
	if columns[2].Name != "k" {
		return drawMaps(all, columns, lang)
	}
	axis := axisOf(columns[1])
	p := ruled(panel(""), false)
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = labelled([]float64{0, 0.25, 0.5, 0.75, 1}, func(v float64) string { return percent(v) + " %" })
	p.Y.Label.Text, p.X.Label.Text = say(lang, "sweep.axis"), axisName(lang, axis)
	curves := lists.Each(by("lock", all), func(of []record) curve {
		return curve{band: true, name: of[0].text("lock"), points: lists.Each(of, func(r record) point {
			return point{r.number(columns[1].Name), r.number("share"), r.number("wilson_lo"), r.number("wilson_hi")}
		})}
	})
	place := func(m curve) float64 { low, high := half(m.points); return math.Abs(low + high) }
	latest := place(slices.MaxFunc(curves, func(a, b curve) int { return cmp.Compare(place(a), place(b)) }))
	groups := lists.Gather(curves, func(a, b curve) bool { return place(a) == place(b) || top(a) == 0 && top(b) == 0 })
	slices.SortStableFunc(groups, func(a, b []curve) int { return cmp.Compare(place(b[0]), place(a[0])) })
	var labels dots
	for i, g := range groups {
		first := &g[0]
		for k := range g {
			g[k].stands = len(groups) > 1 && place(g[k]) == latest
			g[k].color, g[k].dashes = inColor(g[k].stands), dashes[i%len(dashes)]
			p.Add(g[k])
		}
		words := ""
		if !math.IsNaN(place(*first)) {
			words = ": " + between(lang, axis, first.points)
		}
		labels = append(labels, first.named(lang, lists.Each(g, func(m curve) string { return m.name }), words)...)
	}
	p.Add(labels)
	var ticks []float64
	for i, x := range values(columns[1].Name, all) {
		if v, err := strconv.ParseFloat(x, 64); err == nil && i%(len(curves[0].points)/11+1) == 0 {
			ticks = append(ticks, v)
		}
	}
	p.X.Tick.Marker = labelled(ticks, axis.Format)
	return frame{below: []string{say(lang, "sweep.below")}, body: panels(1, p), least: vg.Point{Y: 200}}
}

// dashes tell the lines of a sweep apart, where colours do not; that of the first one is solid.
var dashes = [][]vg.Length{{}, {6, 2}, {2, 2}, {8, 2, 2, 2}, {1, 3}}

// axisName is the name of an axis in words.
func axisName(lang string, axis study.Axis) string {
	name := axis.Setting.Name
	if text.In(lang).Has("sweep.name." + name) {
		name = say(lang, "sweep.name."+name)
	}
	if axis.PerTTL && name != "" {
		return say(lang, "sweep.leases", "name", name)
	}
	return name
}

// top is the largest share of a curve.
func top(m curve) float64 {
	return slices.Max(lists.Each(m.points, func(at point) float64 { return at.y }))
}

// mostWritten is the number of cells side by side that have room for three digits each.
const mostWritten = 12

// drawMaps has a cell for each point, the darker the more runs fail. A point at which none did is empty.
func drawMaps(all []record, columns []Head, lang string) frame {
	across, up := axisOf(columns[1]), axisOf(columns[2])
	xs, ys := values(columns[1].Name, all), values(columns[2].Name, all)
	sortNumbers(xs)
	sortNumbers(ys)
	written := func(axis study.Axis, all []string, n int) []string {
		return lists.Each(lists.Indices(all), func(i int) string {
			if i%((len(all)+n-1)/n) > 0 {
				return ""
			}
			v, _ := strconv.ParseFloat(all[i], 64)
			return axis.Format(v)
		})
	}
	var plots []*plot.Plot
	for _, of := range by("lock", all) {
		var marks cells
		for _, r := range of {
			if share := r.number("share"); share > 0 {
				at := cell{x: float64(slices.Index(xs, r.text(columns[1].Name))), y: float64(slices.Index(ys,
					r.text(columns[2].Name)))}
				at.paint, at.quiet = heat(share), true
				if len(xs) <= mostWritten {
					at.glyph = percent(share)
				}
				marks = append(marks, at)
			}
		}
		p := panel(of[0].text("lock"))
		name(&p.X, 1, written(across, xs, 6))
		name(&p.Y, 1, written(up, ys, 8))
		p.X.Label.Text, p.Y.Label.Text = axisName(lang, across), axisName(lang, up)
		p.Add(marks)
		plots = append(plots, p)
	}
	return frame{below: []string{say(lang, "sweep.below.map")}, body: panels(2, plots...),
		least: vg.Point{X: 400, Y: 150 * vg.Length((len(plots)+1)/2)}}
}

func sortNumbers(all []string) {
	slices.SortFunc(all, func(a, b string) int {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	})
}

// heat is a colour that grows darker with a share: one hue, so that lightness tells.
func heat(share float64) paint {
	from, to, writing := color.NRGBA{0xfd, 0xe0, 0xc5, 0xff}, color.NRGBA{0x7a, 0x1f, 0x00, 0xff}, black
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	if share > 0.55 {
		writing = white
	}
	return paint{color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff}, writing}
}
