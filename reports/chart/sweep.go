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
	"gonum.org/v1/plot/vg"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Sweep draws each lock's share of seeded runs with some verdicts, against one setting as curves or two as heat maps.
type Sweep struct{ study.Sweep }

// Name is that of Result.
func (s *Sweep) Name() string { return "sweep" }

// Assumptions are those under which the shares are what they are.
func (s *Sweep) Assumptions(lang string) string {
	of := s.Order.Situation(nil)
	unlessVaried := func(name, value string) string {
		for _, a := range s.Order.Axes {
			if low, high := extremes(a.Values, math.Abs); a.Setting.Name == name {
				return say(lang, "sweep.between", "low", valueIn(lang, a, low), "high", valueIn(lang, a, high))
			}
		}
		return value
	}
	varied := func(name string) bool { return unlessVaried(name, "") != "" }
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
			parts = append(parts, say(lang, "chart.of", "of", name, "is", say(lang, "sweep.what."+setting)))
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

// place orders curves by where; NaN: it is nowhere.
func (m curve) place() float64 { _, x := m.where(); return math.Abs(x) }

// top is the largest share of a curve.
func (m curve) top() float64 {
	return slices.Max(lists.Each(m.points, func(at point) float64 { return at.y }))
}

// where says at what values half the runs fail, by a text's key: from or up to one, at all, or first at one; NaN: none.
func (m curve) where() (key string, x float64) {
	half := lists.Pick(m.points, func(at point) bool { return at.y >= 0.5 })
	if half == nil {
		return "", math.NaN()
	}
	nearest, _ := extremes(half, func(at point) float64 { return math.Abs(at.x) })
	n, first, last := len(m.points), m.points[:len(half)], m.points[len(m.points)-len(half):]
	switch {
	case len(half) == n:
		return "all", nearest.x
	case slices.Equal(half, first):
		return "to", half[len(half)-1].x
	case slices.Equal(half, last):
		return "from", half[0].x
	}
	return "first", nearest.x
}

// Finding says at which values at least half of the runs of which locks fail, and of which locks fewer or none do; of
// two settings, from which value of one on some do.
func (s *Sweep) Finding(lang string) string {
	words, axis, all := reports.SaidWords(lang, s.Order.Words), s.Order.Axes[0], s.Table().records()
	if !slices.ContainsFunc(all, func(r record) bool { return r.number("k") > 0 }) {
		return say(lang, "sweep.none", "words", words, "runs", thousands(s.Order.Runs))
	}
	key, reaches, other := "sweep.finding.half", func(m curve) bool { return m.top() >= 0.5 }, ""
	where, curves := curve.where, curvesOf(all, axis.Name())
	if len(s.Order.Axes) > 1 {
		i := max(slices.IndexFunc(s.Order.Axes, func(a study.Axis) bool { return a.Setting.Fault }), 0)
		axis, other = s.Order.Axes[i], settingName(lang, s.Order.Axes[1-i])
		key, reaches = "sweep.finding.map", func(m curve) bool { return m.top() > 0 }
		curves = curvesOf(all, axis.Name())
		where = func(m curve) (string, float64) {
			failed := lists.Pick(m.points, func(at point) bool { return at.y > 0 })
			least, _ := extremes(failed, func(at point) float64 { return math.Abs(at.x) })
			return "first", least.x
		}
	}
	var parts []string
	name := func(m curve) string { return m.name }
	reached := lists.Pick(curves, reaches)
	slices.SortStableFunc(reached, func(a, b curve) int { return cmp.Compare(a.place(), b.place()) })
	groups := lists.Gather(reached, func(a, b curve) bool {
		of, x := where(a)
		as, y := where(b)
		return of == as && x == y
	})
	if groups != nil {
		said := lists.Each(groups, func(g []curve) string {
			who := text.Join(lang, "chart.list", lists.Each(g, name))
			if len(g) > maxNamed {
				who = say(lang, "sweep.locks", "n", inWords(lang, len(g)))
			}
			of, x := where(g[0])
			ahead := "sweep.finding." + of + "." + axis.Setting.Name
			if text.In(lang).Has(ahead) && (x > 0) == (of == "from") {
				return say(lang, ahead, "who", who, "x", valueIn(lang, axis, math.Abs(x)))
			}
			return say(lang, "sweep.finding."+of, "who", who, "x", valueIn(lang, axis, x))
		})
		parts = append(parts, say(lang, key, "words", words, "name", settingName(lang, axis), "other", other,
			"parts", firstNames(lang, said, titleLocks)))
	}
	below := lists.Pick(curves, func(m curve) bool { return !reaches(m) && m.top() > 0 })
	if below != nil {
		_, most := extremes(below, curve.top)
		parts = append(parts, say(lang, "sweep.finding.most", "words", words, "top", percent(most.top()), "locks",
			firstNames(lang, lists.Each(below, name), titleLocks)))
	}
	if never := lists.Pick(curves, func(m curve) bool { return m.top() == 0 }); never != nil {
		parts = append(parts, say(lang, "sweep.finding.never", "bound", atMost(s.Order.Runs), "locks",
			firstNames(lang, lists.Each(never, name), titleLocks)))
	}
	return text.Join(lang, "sweep.finding", parts)
}

// atMost is the bound of a share of which none of some runs was seen.
func atMost(runs int) string {
	_, hi := study.Wilson(0, runs)
	return "<" + rounded(100*ceilTo(hi, 0.001), 1) + " %"
}

// valueIn writes a value with its unit.
func valueIn(lang string, axis study.Axis, x float64) string {
	if !axis.PerTTL {
		return spaced(axis)(x)
	}
	return say(lang, map[bool]string{true: "sweep.lease.one", false: "sweep.lease"}[x == 1], "x", spaced(axis)(x))
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
			row[i] = spaced(axisOf(h))(v)
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
	words := strings.Trim(fmt.Sprint(c.More["verdicts"]), "[]")
	p := axes(axisName(lang, axis), say(lang, "sweep.axis", "words", words))
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = labelled([]float64{0, 0.25, 0.5, 0.75, 1}, func(v float64) string { return percent(v) + " %" })
	curves := curvesOf(all, columns[1].Name)
	latest := slices.MaxFunc(curves, func(a, b curve) int { return cmp.Compare(a.place(), b.place()) }).place()
	alike := func(a, b curve) bool { return a.place() == b.place() || a.top() == 0 && b.top() == 0 }
	groups := lists.Gather(curves, alike)
	slices.SortStableFunc(groups, func(a, b []curve) int { return cmp.Compare(b[0].place(), a[0].place()) })
	var labels dots
	for i, g := range groups {
		for k := range g {
			g[k].stands = len(groups) > 1 && g[k].place() == latest
			g[k].color, g[k].dashes = inColor(g[k].stands), dashes[i%len(dashes)]
			g[k].band = g[k].band && k == 0 // bands on each other are no darker
			p.Add(g[k])
		}
		words := ""
		if key, x := g[0].where(); key != "" {
			words = say(lang, "sweep.finding."+key, "who", "", "x", spaced(axis)(x))
		}
		labels = append(labels, c.labels(lang, g[0], lists.Each(g, func(m curve) string { return m.name }), words)...)
	}
	p.X.Tick.Marker = labelled(axisValues(all, columns[1]), spaced(axis))
	f := c.curves(say(lang, "sweep.below"), p, labels)
	if one := "grid.word." + words; text.In(lang).Has(one) {
		f.foot = []string{say(lang, "chart.of", "of", words, "is", say(lang, one))}
	}
	return f
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

// drawMaps has a cell for each point, the darker the more runs fail. A point at which none did is grey.
func (c *Chart) drawMaps(all []record, columns []Head, lang string) frame {
	across, up := axisOf(columns[1]), axisOf(columns[2])
	xs, ys := axisValues(all, columns[1]), axisValues(all, columns[2])
	var plots []*plot.Plot
	for _, of := range by("lock", all) {
		var marks cells
		for _, r := range of {
			x, y := slices.Index(xs, r.number(columns[1].Name)), slices.Index(ys, r.number(columns[2].Name))
			marks = append(marks, heat(x, y, r.number("share")))
		}
		p := panel(of[0].text("lock"))
		name(&p.X, 1, lists.Each(xs, spaced(across)))
		name(&p.Y, 1, lists.Each(ys, spaced(up)))
		p.X.Label.Text, p.Y.Label.Text = axisName(lang, across), axisName(lang, up)
		p.Add(marks)
		plots = append(plots, p)
	}
	below := say(lang, "sweep.below.map", "runs", all[0].shown("n"), "bound", atMost(int(all[0].number("n"))))
	return c.tiles(below, c.aside(2, 1), vg.Point{X: 200, Y: 150}, plots...)
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
	if share == 0 {
		return cell{x: float64(x), y: float64(y), paint: paint{paleGrey, black}}
	}
	return cell{x: float64(x), y: float64(y), paint: paint{ground, writing}, glyph: percent(share), quiet: true}
}
