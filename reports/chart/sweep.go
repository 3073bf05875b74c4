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
	"gonum.org/v1/plot/vg/draw"

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
		parts[0] = say(lang, "part.sentences", "first", parts[0], "next", say(lang, map[bool]string{
			true: "sweep.pause.waits", false: "sweep.pause.computes"}[of.Waits || of.WholeLease]))
	}
	what := func(name, setting string) {
		if text.In(lang).Has("sweep.what." + setting) {
			parts = append(parts, say(lang, "sweep.what", "name", name, "what", say(lang, "sweep.what."+setting)))
		}
	}
	for _, a := range s.Order.Axes {
		what(settingName(lang, a), a.Setting.Name)
	}
	for _, v := range s.Order.Fixed {
		what(v.String(), v.Setting.Name)
	}
	return text.Join(lang, "part.sentences", append(parts, lists.Each(s.unplayed(), func(one study.SweepSeries) string {
		return say(lang, "sweep.na", "lock", one.Lock, "why", say(lang, "na."+string(one.NA)))
	})...))
}

// unplayed are the locks that were not played.
func (s *Sweep) unplayed() []study.SweepSeries {
	return lists.Pick(s.Series, func(one study.SweepSeries) bool { return one.NA != "" })
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
		lo, hi := study.Wilson(p.K, p.N)
		return slices.Concat([]any{p.lock}, lists.Each(p.At, func(v float64) any { return whole(v) }),
			[]any{p.K, p.N, places(float64(p.K)/float64(max(p.N, 1)), 6), places(lo, 6), places(hi, 6)})
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

// curvesOf are the shares of runs of each lock, by the values in a column.
func curvesOf(all []record, column string) []curve {
	return lists.Each(by("lock", all), func(of []record) curve {
		return curve{band: true, name: of[0].text("lock"), points: lists.Each(of, func(r record) point {
			return point{r.number(column), r.number("share"), r.number("wilson_lo"), r.number("wilson_hi")}
		})}
	})
}

// half returns the two values nearest to zero between which the share of runs that fail comes to a half; both are the
// same where it is there from the first one on, and NaN where at no value that was looked at.
func (m curve) half() (low, high float64) {
	low, high = math.NaN(), math.NaN()
	for i, p := range m.points {
		before := m.points[max(i-1, 0)]
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

// place orders curves by half; NaN: it is nowhere.
func (m curve) place() float64 { low, high := m.half(); return math.Abs(low + high) }

// top is the largest share of a curve.
func (m curve) top() float64 {
	return slices.Max(lists.Each(m.points, func(at point) float64 { return at.y }))
}

// between writes the two values of half.
func between(lang string, axis study.Axis, m curve) string {
	low, high := m.half()
	if low == high {
		return axis.Format(high)
	}
	return say(lang, "sweep.between", "low", axis.Format(low), "high", axis.Format(high))
}

// Finding says at which value at least half of the runs of most locks fail, and of which locks none do; of two
// settings, where most do.
func (s *Sweep) Finding(lang string) string {
	words, axis, all := reports.Words(s.Order.Words), s.Order.Axes[0], s.Table().records()
	failed := lists.Pick(all, func(r record) bool { return r.number("k") > 0 })
	if failed == nil {
		return say(lang, "sweep.none", "words", words, "runs", thousands(s.Order.Runs))
	}
	if len(s.Order.Axes) > 1 {
		axis = s.Order.Axes[max(slices.IndexFunc(s.Order.Axes, func(a study.Axis) bool { return a.Setting.Fault }), 0)]
		hits := lists.Each(by("lock", failed), func(of []record) string {
			least, _ := extremes(of, func(r record) float64 { return math.Abs(r.number(axis.Name())) })
			return say(lang, "sweep.finding.first", "x", axis.Format(least.number(axis.Name())), "locks", least.text("lock"))
		})
		return say(lang, "sweep.finding.map", "words", words, "parts", text.Join(lang, "chart.list", hits),
			"name", axis.Name())
	}
	curves, name := curvesOf(all, axis.Name()), func(of []curve) string {
		return firstNames(lang, lists.Each(of, func(m curve) string { return m.name }), titleLocks)
	}
	ordered := func(by func(curve) float64, wanted func(curve) bool) []curve {
		some := lists.Pick(curves, wanted)
		slices.SortStableFunc(some, func(a, b curve) int { return cmp.Compare(by(a), by(b)) })
		return some
	}
	var parts []string
	if at, share, n := widest(curves); n > 0 {
		value := axis.Format(at)
		if axis.PerTTL {
			value = say(lang, map[bool]string{true: "sweep.lease.one", false: "sweep.lease"}[at == 1], "x", value)
		}
		parts = append(parts, say(lang, "sweep.finding.half", "name", settingName(lang, axis), "x", value, "n",
			inWords(lang, n),
			"all", inWords(lang, len(curves)), "share", percent(math.Floor(100*share)/100)))
	}
	if below := ordered(curve.top, func(m curve) bool { return m.top() > 0 && m.top() < 0.5 }); below != nil {
		parts = append(parts, say(lang, "sweep.finding.most", "top", percent(below[len(below)-1].top()), "locks",
			name(below)))
	}
	_, hi := study.Wilson(0, s.Order.Runs)
	if never := ordered(curve.top, func(m curve) bool { return m.top() == 0 }); never != nil {
		parts = append(parts, say(lang, "sweep.finding.never", "locks", name(never), "runs", thousands(s.Order.Runs),
			"bound", "< "+rounded(100*ceilTo(hi, 0.001), 1)+" %"))
	}
	return say(lang, "sweep.finding", "words", words, "parts", text.Join(lang, "chart.list", parts))
}

// widest is the value nearest to zero at which half of the runs of most curves fail, the least share there, and their
// number; 0: there is none.
func widest(curves []curve) (at, share float64, n int) {
	for i, p := range curves[0].points {
		fail := lists.Pick(curves, func(m curve) bool { return i < len(m.points) && m.points[i].y >= 0.5 })
		if len(fail) > n || len(fail) == n && n > 0 && math.Abs(p.x) < math.Abs(at) {
			at, n, share = p.x, len(fail), slices.Min(lists.Each(fail, func(m curve) float64 { return m.points[i].y }))
		}
	}
	return at, share, n
}

// Notes implements Result.
func (s *Sweep) Notes(lang string) []string { return []string{say(lang, "sweep.note")} }

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
		return c.drawMaps(all, columns, lang)
	}
	axis := axisOf(columns[1])
	p := axes(axisName(lang, axis), say(lang, "sweep.axis"))
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = labelled([]float64{0, 0.25, 0.5, 0.75, 1}, func(v float64) string { return percent(v) + " %" })
	curves := curvesOf(all, columns[1].Name)
	latest := slices.MaxFunc(curves, func(a, b curve) int { return cmp.Compare(a.place(), b.place()) }).place()
	groups := lists.Gather(curves, func(a, b curve) bool { return a.place() == b.place() || a.top() == 0 && b.top() == 0 })
	slices.SortStableFunc(groups, func(a, b []curve) int { return cmp.Compare(b[0].place(), a[0].place()) })
	var labels dots
	for i, g := range groups {
		for k := range g {
			g[k].stands = len(groups) > 1 && g[k].place() == latest
			g[k].color, g[k].dashes = inColor(g[k].stands), dashes[i%len(dashes)]
			p.Add(g[k])
		}
		words := ""
		if g[0].place() >= 0 {
			words = ": " + between(lang, axis, g[0])
		}
		labels = append(labels, c.labels(lang, g[0], lists.Each(g, func(m curve) string { return m.name }), words)...)
	}
	p.Add(labels)
	p.X.Tick.Marker = labelled(axisValues(all, columns[1]), axis.Format)
	return frame{below: []string{say(lang, "sweep.below")}, body: panels(1, p), least: vg.Point{Y: 200}}
}

// dashes tell the lines of a sweep apart, where colours do not; that of the first one is solid.
var dashes = [][]vg.Length{{}, {6, 2}, {2, 2}, {8, 2, 2, 2}, {1, 3}}

// settingName is the name of an axis in words.
func settingName(lang string, axis study.Axis) string {
	if name := "sweep.name." + axis.Setting.Name; text.In(lang).Has(name) {
		return say(lang, name)
	}
	return axis.Setting.Name
}

// axisName is that with its unit.
func axisName(lang string, axis study.Axis) string {
	name := settingName(lang, axis)
	if axis.PerTTL && name != "" {
		return say(lang, "sweep.leases", "name", name)
	}
	return name
}

// drawMaps has a cell for each point, the darker the more runs fail. A point at which none did is empty.
func (c *Chart) drawMaps(all []record, columns []Head, lang string) frame {
	across, up := axisOf(columns[1]), axisOf(columns[2])
	xs, ys := axisValues(all, columns[1]), axisValues(all, columns[2])
	var plots []*plot.Plot
	for _, of := range by("lock", all) {
		var marks cells
		for _, r := range of {
			if share := r.number("share"); share > 0 {
				x, y := slices.Index(xs, r.number(columns[1].Name)), slices.Index(ys, r.number(columns[2].Name))
				marks = append(marks, heat(x, y, share))
			}
		}
		p := panel(of[0].text("lock"))
		name(&p.X, 1, lists.Each(xs, across.Format))
		name(&p.Y, 1, lists.Each(ys, up.Format))
		p.X.Label.Text, p.Y.Label.Text = axisName(lang, across), axisName(lang, up)
		p.Add(marks)
		plots = append(plots, p)
	}
	f := c.tiles(say(lang, "sweep.below.map"), 2, vg.Point{X: 200, Y: 150}, plots...)
	maps, scale := f.body, panel("")
	scale.HideAxes()
	scale.Title.Padding = 0
	name(&scale.X, 1, make([]string, 5))
	for i, share := range []float64{0.1, 0.25, 0.5, 0.75, 1} {
		scale.Add(cells{heat(i, 0, share)})
	}
	f.least.Y += 24
	f.body = func(c draw.Canvas) {
		scale.Draw(crop(c, box(c.Min.X, c.Max.Y-18, c.Min.X+160, c.Max.Y)))
		maps(draw.Crop(c, 0, 0, 0, -24))
	}
	return f
}

// axisValues are the values in a column, in their order.
func axisValues(all []record, column Head) []float64 {
	return slices.Compact(slices.Sorted(slices.Values(numbers(column.Name, all))))
}

// heat is a cell with a share in percent, in a colour that grows darker with it: one hue, so that lightness tells.
func heat(x, y int, share float64) cell {
	from, to, writing := color.NRGBA{0xfd, 0xe0, 0xc5, 0xff}, color.NRGBA{0x7a, 0x1f, 0x00, 0xff}, black
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	if share > 0.55 {
		writing = white
	}
	ground := color.NRGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff}
	return cell{x: float64(x), y: float64(y), paint: paint{ground, writing}, glyph: percent(share), quiet: true}
}
