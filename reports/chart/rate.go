package chart

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Rate draws how often a year locks let two clients in at most, against their TTL.
type Rate struct{ cost.Rates }

// Name is that of Result, and so are the next ones.
func (r *Rate) Name() string { return "rate" }

var percentile = regexp.MustCompile(`(p[0-9.]+)=([^,]+)`)

// lengthsOf writes lengths as "50 ms (p50), 300 ms (p99)".
func lengthsOf(s cost.Source) string {
	said := percentile.ReplaceAllString(withoutBlank.ReplaceAllString(s.Lengths.String(), "$1 $2"), "$2 ($1)")
	return strings.ReplaceAll(said, ",", ", ")
}

// Assumptions are how the locks are used, and how often and how long machines pause, by source.
func (r *Rate) Assumptions(lang string) string {
	pauses := lists.Each(r.Sources, func(s cost.Source) string {
		key := "rate.input"
		switch {
		case s.Quality == cost.Given:
			return s.ID
		case s.Quality == cost.Maximum && !s.Assumed:
			key = "rate.input.most"
		case s.Assumed:
			key = "rate.input.assumed"
		}
		lengths := lengthsOf(s)
		cited := say(lang, "environment."+s.ID+".source") + ","
		written := s.Lengths.String()
		if last, _, is := strings.Cut(written[strings.LastIndex(written, ",")+1:], "="); is && last != "p100" {
			lengths = say(lang, "rate.beyond", "lengths", lengths, "last", last)
		}
		return say(lang, key, "source", s.ID, "n", number(s.PerYear), "lengths", lengths,
			"cited", cited[:strings.IndexAny(cited, ",，")])
	})
	work := map[bool]string{true: "rate.work.stops", false: "rate.work.goes-on"}[r.PauseStopsWork]
	return say(lang, "rate.usage", "machines", thousands(r.Machines), "acquisitions", decimal(r.PerSecond),
		"work", length(r.Work), "pause", say(lang, work), "held", number(r.Held()), "contended", percent(r.Contended),
		"pauses", text.Join(lang, "grid.join", pauses))
}

// Inconclusive reports whether a bound has no number.
func (r *Rate) Inconclusive() bool {
	return slices.ContainsFunc(r.Bounds, func(b cost.Bound) bool { return b.AtMost == nil && b.Harmful == nil })
}

// Table has one row for each lock, source and TTL.
func (r *Rate) Table() *Table { return tableBy(r.Bounds) }

// more has the inputs, and what the title is about.
func (r *Rate) more() map[string]any {
	_, source, _ := r.worst()
	return map[string]any{"ttl_ns": valueOf(r.TTL), "source": source, "usage": r.Usage, "sources": r.Sources}
}

// worst returns the bound of the locks that break most often at the TTL, the source with which, and those locks.
func (r *Rate) worst() (most float64, source string, locks []string) {
	for _, b := range r.Bounds {
		switch {
		case b.TTL != r.TTL || b.AtMost == nil || *b.AtMost == 0 || *b.AtMost < most:
		case *b.AtMost > most:
			most, source, locks = *b.AtMost, b.Source, []string{b.Lock}
		case b.Source == source:
			locks = append(locks, b.Lock)
		}
	}
	return most, source, locks
}

// Finding says which locks break most often at the TTL and with which pauses, rounded to the two digits of the inputs.
func (r *Rate) Finding(lang string) string {
	most, source, locks := r.worst()
	if locks == nil {
		return say(lang, "rate.finding.none", "ttl", length(r.TTL))
	}
	n := number(most)
	if most >= 10 {
		n = number(ceilTo(most, math.Pow(10, math.Floor(math.Log10(most))-1)))
	}
	byTTL := func(a, b cost.Bound) int { return cmp.Compare(a.TTL, b.TTL) }
	last := slices.MaxFunc(lists.Pick(r.Bounds, func(b cost.Bound) bool {
		return b.Source == source && slices.Contains(locks, b.Lock) && *b.AtMost > 0
	}), byTTL)
	key, from := "rate.finding", ""
	if later := lists.Pick(r.Bounds, func(b cost.Bound) bool { return b.TTL > last.TTL }); later != nil {
		key, from = "rate.finding.until", length(slices.MinFunc(later, byTTL).TTL)
	}
	i := slices.IndexFunc(r.Sources, func(s cost.Source) bool { return s.ID == source })
	pauses := named(lang, "pauses.", source)
	pauses = say(lang, map[bool]string{true: "rate.pauses", false: "rate.pauses.known"}[pauses == source], "source",
		pauses, "n", number(r.Sources[i].PerYear),
		"lengths", lengthsOf(r.Sources[i]))
	who := firstNames(lang, locks, titleLocks)
	if len(locks) > maxNamed {
		who = say(lang, "rate.locks", "n", inWords(lang, len(locks)), "all", inWords(lang, len(r.Subjects)))
	}
	return say(lang, key, "ttl", length(r.TTL), "n", n, "source", pauses, "from", from, "locks", who,
		"machines", thousands(r.Machines), "work", length(r.Work))
}

// Notes implements Result.
func (r *Rate) Notes(lang string) (notes []string) {
	if slices.ContainsFunc(r.Sources, func(s cost.Source) bool { return s.Assumed }) {
		notes = append(notes, say(lang, "rate.note.assumed"))
	}
	if r.Inconclusive() {
		notes = append(notes, say(lang, "rate.note.unknown"))
	}
	if slices.ContainsFunc(r.Bounds, func(b cost.Bound) bool { return b.AtMost == nil && b.Harmful != nil }) {
		notes = append(notes, say(lang, "rate.note.unbounded"))
	}
	notes = append(append(notes, r.lone(lang)...), say(lang, "rate.method"), say(lang, "rate.sources"))
	for _, s := range r.Sources {
		line := say(lang, "rate.source.given", "name", s.ID)
		if s.Quality != cost.Given {
			line = say(lang, "rate.source", "name", s.ID, "kind", say(lang, "rate.kind."+string(s.Quality)),
				"what", say(lang, "environment."+s.ID+".what"), "source", say(lang, "environment."+s.ID+".source"))
		}
		notes = append(notes, "  "+line)
	}
	return notes
}

// lone says where the numbers of the only lock come from; nothing where there are several.
func (r *Rate) lone(lang string) []string {
	if len(r.Subjects) != 1 {
		return nil
	}
	s := r.Subjects[0]
	found := string(s.Limit.Answer)
	if s.Limit.Answer == study.Limited {
		found = say(lang, "rate.search", "limit", rounded(s.Limit.Falls, 2))
	}
	return []string{say(lang, "rate.lone", "spans", spansOf(lang, s.Lease), "found", found)}
}

// spansOf says how a lease is renewed.
func spansOf(lang string, l cost.Lease) string {
	if len(l.Spans) == 0 {
		return say(lang, "rate.lease.none")
	}
	left := rounded(l.Spans[0].Left, 2)
	switch {
	case l.Endless():
		return say(lang, "rate.lease.endless")
	case l.Kept:
		return say(lang, "rate.lease.kept", "left", left)
	case len(l.Spans) == 1:
		return say(lang, "rate.lease.once", "left", left)
	}
	next := l.Spans[1]
	return say(lang, "rate.lease.renewed", "left", left, "at", rounded(next.From, 2), "then", rounded(next.Left, 2))
}

// viewRate has the TTL of the title: a source a line, a lock a column, what a crash costs; of one lock the factors.
func viewRate(c *Chart, lang string) *Table {
	all := lists.Pick(c.Table.records(), func(r record) bool { return r.text("ttl_ns") == textOf(c.More["ttl_ns"]) })
	if len(by("lock", all)) == 1 {
		one := &Table{Columns: c.Table.Columns, Rows: lists.Each(all, func(r record) []any { return r.row })}
		return one.only(func(name string) bool { return name != "lock" && name != "ttl_ns" })
	}
	t := across(all, []string{"source"}, "lock", func(of []record) any {
		if n := of[0].number("overlaps_a_year_at_most"); !math.IsNaN(n) {
			return number(n)
		} else if !math.IsNaN(of[0].number("share_of_pauses_that_harm")) {
			return "-" // the source has no bound
		}
		return "?"
	})
	for _, name := range []string{"blocked_mean_ns", "blocked_longest_ns"} {
		row := []any{named(lang, "chart.head.", name)}
		for _, of := range by("lock", all) {
			row = append(row, of[0].shown(name))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// drawRate has a curve for each lock with the pauses of the title, against the TTL. Those that break most often at the
// TTL of the title stand out. Each bound holds for longer TTLs too, up to the next one. None is at the bottom.
func drawRate(c *Chart, lang string) frame {
	source, _ := c.More["source"].(string)
	all := lists.Pick(c.Table.records(), func(r record) bool {
		return (source == "" || r.text("source") == source) && !math.IsNaN(r.number("overlaps_a_year_at_most"))
	})
	often := func(r record) float64 { return r.number("overlaps_a_year_at_most") }
	titled := func(r record) bool { return r.text("ttl_ns") == textOf(c.More["ttl_ns"]) }
	top := slices.Max(append(lists.Each(lists.Pick(all, titled), often), 0))
	p := axes(say(lang, "term.ttl.name"), say(lang, "rate.axis.overlaps"))
	labels := c.lockLines(p, lang, all, "overlaps_a_year_at_most", func(of []record) curve {
		at := func(r record) point { return point{x: r.number("ttl_ns"), y: math.Log10(often(r))} }
		worst := func(r record) bool { return titled(r) && top > 0 && often(r) == top }
		return curve{points: lists.Each(of, at), stands: slices.ContainsFunc(of, worst), steps: true}
	})
	logarithmic(&p.Y, lists.Each(all, often), number)
	powers := p.Y.Tick.Marker.(plot.ConstantTicks)
	for i := range powers { // gonum leaves room for the label of the axis as if its scale were linear
		powers[i].Value = math.Log10(powers[i].Value)
	}
	p.Y.Scale, p.Y.Min, p.Y.Max = plot.LinearScale{}, math.Log10(p.Y.Min)-1, math.Log10(p.Y.Max)
	p.Y.Tick.Marker = append(powers, plot.Tick{Value: p.Y.Min, Label: say(lang, "rate.axis.none")}) // below the scale
	ttls := axisValues(all, headOf("ttl_ns"))
	round := lists.Pick(ttls, func(ttl float64) bool { return strings.ContainsAny(decimal(ttl)[:1], "13") })
	p.X.Scale, p.X.Tick.Marker, p.X.Min, p.X.Max = plot.LogScale{}, labelled(round, nanoseconds), 1, 10
	if len(ttls) > 0 {
		p.X.Min, p.X.Max = ttls[0], ttls[len(ttls)-1]
	}
	p.Add(axisBreak(p.Y.Min + 0.5))
	below := text.Join(lang, "part.sentences", []string{say(lang, "rate.below"), c.otherSources(lang, source)})
	return c.curves(below, p, labels)
}

// otherSources says how many overlaps the worst of the other sources brings about at the TTL of the title.
func (c *Chart) otherSources(lang, source string) string {
	others := lists.Pick(c.Table.records(), func(r record) bool {
		return r.text("source") != source && r.text("ttl_ns") == textOf(c.More["ttl_ns"]) &&
			!math.IsNaN(r.number("overlaps_a_year_at_most"))
	})
	if source == "" || others == nil {
		return ""
	}
	_, worst := extremes(others, func(r record) float64 { return r.number("overlaps_a_year_at_most") })
	none := worst.number("overlaps_a_year_at_most") == 0
	key := map[bool]string{true: "rate.below.none", false: "rate.below.other"}[none]
	return say(lang, key, "source", worst.text("source"), "ttl", nanoseconds(worst.number("ttl_ns")), "n",
		worst.shown("overlaps_a_year_at_most"))
}

// An axisBreak is where the scale of the upright axis ends.
type axisBreak float64

func (at axisBreak) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, up := range []vg.Length{-2, 2} {
		middle := y(float64(at)) + up
		c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 1}, c.Min.X-8, middle-2, c.Min.X, middle+2)
	}
}
