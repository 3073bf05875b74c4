package chart

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/layout"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A ContendChart shows what clients that contend for a lock get of a real server, beside what
// the simulation predicts.
type ContendChart struct {
	Contention cost.Contention // Load.Service and Load.Latency are those that were measured
	Version    string          // of redis-server
	Results    []Contended
}

// Contended is the result of one lock and one way to wait for it.
type Contended struct {
	Policy string        `json:"policy"`
	Lock   string        `json:"lock"`
	Real   cost.Measures `json:"real"`
	Lab    cost.Measures `json:"lab"`
}

func (r Contended) name() string { return r.Policy + " " + r.Lock }

// A side is what was measured of one result.
type side struct {
	cost.Measures
	of   Contended
	name string // "real" or "lab"
}

func (r Contended) sides() []side { return []side{{r.Real, r, "real"}, {r.Lab, r, "lab"}} }

func (c *ContendChart) sides() []side {
	return slices.Concat(lists.Each(c.Results, Contended.sides)...)
}

// Title returns the question of the chart.
func (c *ContendChart) Title(lang string) string { return say(lang, "contend.title") }

// Assumptions are the numbers of the runs.
func (c *ContendChart) Assumptions(lang string) string {
	l := c.Contention.Load
	return say(lang, "contend.assumptions", "version", c.Version, "clients", thousands(c.Contention.Clients),
		"requests", thousands(c.Contention.Requests), "hold", length(l.Hold), "poll", length(l.Poll), "cap", length(l.Cap),
		"base", (l.Poll / 8).String(), "ttl", length(l.TTL), "patience", length(l.Patience),
		"service", l.Service.String(), "latency", l.Latency.String())
}

// Takeaway says what differs most, and how well the simulation predicts it.
func (c *ContendChart) Takeaway(lang string) string {
	if len(c.Results) == 0 {
		return say(lang, "waiting.nothing")
	}
	slow, quick := extremes(c.Results, func(r Contended) float64 { return r.Real.Throughput })
	cheap, dear := extremes(c.Results, func(r Contended) float64 { return perRequest(r.Real) })
	return say(lang, "contend.takeaway", "slow", slow.name(), "slowest", rounded(slow.Real.Throughput, 0),
		"quick", quick.name(), "quickest", rounded(quick.Real.Throughput, 0),
		"cheap", cheap.name(), "least", rounded(perRequest(cheap.Real), 1), "dear", dear.name(), "most",
		rounded(perRequest(dear.Real), 0),
		"throughput", c.factor(func(m cost.Measures) float64 { return m.Throughput }), "commands", c.factor(perRequest))
}

// factor is how far the simulation is off at most, for one measure.
func (c *ContendChart) factor(of func(m cost.Measures) float64) string {
	worst := 1.0
	for _, r := range c.Results {
		if a, b := of(r.Real), of(r.Lab); a > 0 && b > 0 {
			worst = max(worst, a/b, b/a)
		}
	}
	return rounded(worst, 1)
}

// perRequest returns the number of commands that a request costs.
func perRequest(m cost.Measures) float64 {
	return float64(m.Total()) / float64(max(1, m.Acquired+m.GaveUp))
}

// text has two lines for each lock and way to wait, and the commands by kind.
func (c *ContendChart) text(out *layout.Lines) {
	lang := out.Lang()
	names := "name side p50 p90 p99 max release release99 second commands jain gaveup"
	table := listing(2, 5, "contend.head.", names, c.sides(),
		func(m side) []string {
			row := []string{m.of.name(), say(lang, "contend."+m.name)}
			if m.name == "lab" {
				row[0] = ""
			}
			times := []float64{m.Acquire.P50, m.Acquire.P90, m.Acquire.P99, m.Acquire.Max, m.Release.P50, m.Release.P99}
			row = append(row, lists.Each(times, millis)...)
			return append(row, rounded(m.Throughput, 0), rounded(perRequest(m.Measures), 1), jain(m.Jain),
				strconv.Itoa(m.GaveUp))
		})
	show(out, saying(c.Title, c.Assumptions), table, nil)
	out.Put(say(lang, "contend.kinds"), 0)
	for _, r := range c.Results {
		out.Put(say(lang, "contend.kinds.row", "name", r.name(), "real", kinds(r.Real), "lab", kinds(r.Lab)), 2)
	}
	out.Put("", 0)
	putEach(out, func(lang string) []string {
		sentences := []string{c.Takeaway(lang)}
		for _, r := range c.Results {
			if m := r.Real; m.Together+m.Lost > 0 {
				sentences = append(sentences, say(lang, "contend.broken", "name", r.name(), "together", thousands(m.Together),
					"lost", thousands(m.Lost)))
			}
		}
		return append(sentences, say(lang, "contend.note"))
	})
}

// kinds are the commands of a measurement, the most frequent first.
func kinds(m cost.Measures) string {
	names := slices.Sorted(maps.Keys(m.Commands))
	slices.SortStableFunc(names, func(a, b string) int { return m.Commands[b] - m.Commands[a] })
	counts := lists.Each(names, func(name string) string { return name + " " + thousands(m.Commands[name]) })
	return strings.Join(counts, ", ")
}

// records has a line for each lock, way to wait and side.
func (c *ContendChart) records() [][]any {
	return csvLines("policy lock side clients requests acquired gave_up together lost acquire_p50_s acquire_p90_s "+
		"acquire_p99_s acquire_max_s release_p50_s release_p90_s release_p99_s release_max_s acquired_per_second "+
		"commands_per_request jain_index commands", c.sides(), func(m side) []any {
		count := func(name string) string { return fmt.Sprintf("%s=%d", name, m.Commands[name]) }
		commands := lists.Each(slices.Sorted(maps.Keys(m.Commands)), count)
		return []any{m.of.Policy, m.of.Lock, m.name, c.Contention.Clients, c.Contention.Requests,
			m.Acquired, m.GaveUp, m.Together, m.Lost,
			m.Acquire.P50, m.Acquire.P90, m.Acquire.P99, m.Acquire.Max, m.Release.P50, m.Release.P90, m.Release.P99, m.Release.Max,
			m.Throughput, perRequest(m.Measures), m.Jain, strings.Join(commands, " ")}
	})
}

func (c *ContendChart) data() object {
	l := c.Contention.Load
	load := object{"hold_ns", l.Hold, "poll_ns", l.Poll, "cap_ns", l.Cap, "ttl_ns", l.TTL, "patience_ns", l.Patience,
		"service_ns", l.Service, "latency_ns", l.Latency}
	return object{"redis_version", c.Version, "clients", c.Contention.Clients, "requests", c.Contention.Requests,
		"load", load, "takeaway", c.Takeaway("en"), "assumptions", c.Assumptions("en"),
		"results", append([]Contended{}, c.Results...)}
}

// The measures of a chart of contentions, in points.
const (
	contendLine vg.Length = 26 // the real server above, the simulation below
	contendName vg.Length = 92
	contendGap  vg.Length = 34
	contendAxis vg.Length = 24
)

// A contendMeasure is one panel: from low, where the mark is, to high.
type contendMeasure struct {
	key string
	of  func(m cost.Measures) (low, high float64)
}

var contendMeasures = []contendMeasure{
	{"acquire", func(m cost.Measures) (low, high float64) { return m.Acquire.P50 * 1000, m.Acquire.P99 * 1000 }},
	{"release", func(m cost.Measures) (low, high float64) { return m.Release.P50 * 1000, m.Release.P99 * 1000 }},
	{"throughput", func(m cost.Measures) (low, high float64) { return m.Throughput, m.Throughput }},
	{"commands", func(m cost.Measures) (low, high float64) { return perRequest(m), perRequest(m) }},
}

// picture has a line for each lock and way to wait, and a panel for each measure.
func (c *ContendChart) picture(f Format) picture {
	lang := f.Lang
	body := block{height: contendLine*vg.Length(len(c.Results)) + contendAxis, draw: func(place draw.Canvas) {
		for i, r := range c.Results {
			y := place.Max.Y - contendLine*vg.Length(i)
			write(place, smallStrong, place.Min.X, y-contendLine/2+5, r.Policy)
			write(place, faint, place.Min.X, y-contendLine/2-5, fitText(small, r.Lock, contendName))
			place.StrokeLine2(hairlines, place.Min.X, y, place.Max.X, y)
		}
		width := (place.Size().X - contendName) / vg.Length(len(contendMeasures))
		for i, m := range contendMeasures {
			x := place.Min.X + contendName + width*vg.Length(i)
			f := crop(place, box(x+contendGap/2, place.Min.Y+contendAxis, x+width-contendGap/2, place.Max.Y))
			title := fitText(smallStrong, say(lang, "contend.panel."+m.key), f.Size().X+contendGap/2)
			write(f, smallStrong, f.Min.X, f.Max.Y+smallSize, title)
			c.panel(f, m)
		}
	}}
	return f.fitted(c, []string{say(lang, "contend.legend")}, 0, func(vg.Length) []block { return []block{space(2 * smallLine), body} })
}

// Notes implements Chart.
func (c *ContendChart) Notes(lang string) []string {
	return []string{say(lang, "contend.legend"), c.Assumptions(lang), say(lang, "contend.note")}
}

// Finding is the title.
func (c *ContendChart) Finding(lang string) string { return c.Title(lang) }

// panel draws one measure on a logarithmic scale.
func (c *ContendChart) panel(f draw.Canvas, m contendMeasure) {
	var ends []float64
	for _, side := range c.sides() {
		if a, b := m.of(side.Measures); a > 0 && !math.IsInf(b, 1) {
			ends = append(ends, a, b)
		}
	}
	low, high := withinDecades(ends)
	x := logarithmic(f.X, low, high)
	rulesX(f, small, 9, x, decades(low, high, (int(math.Round(math.Log10(high/low)))+2)/3, places(4)))
	for i, side := range c.sides() {
		a, b := m.of(side.Measures)
		if a <= 0 || math.IsInf(b, 1) {
			continue // no client got in
		}
		n := i % 2
		st := style{color: lineColors[n], marker: []draw.GlyphDrawer{draw.CircleGlyph{}, draw.RingGlyph{}}[n]}
		y := f.Max.Y - contendLine*(vg.Length(i/2)+0.5) + []vg.Length{5, -5}[n]
		f.StrokeLine2(st.line(1.8), x(a), y, x(b), y)
		f.DrawGlyph(st.glyph(2.6), vg.Point{X: x(a), Y: y})
	}
}
