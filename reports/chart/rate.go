package chart

import (
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Rate draws how often locks are expected to break in a year, against their TTL, and
// beside it for how long a crash blocks them.
type Rate struct{ cost.Rates }

// Name is that of Result, and so are the next ones.
func (r *Rate) Name() string { return "rate" }

// Assumptions are how the locks are used, and the faults of the environment that the title names.
func (r *Rate) Assumptions(lang string) string {
	where, _, locks := r.worst()
	if locks == nil {
		return r.usage(lang)
	}
	faults := lists.Each(where.Causes, func(c cost.Cause) string {
		return say(lang, "rate.input", "fault", c.Fault, "n", yearly(c.PerYear, c.Assumed), "size", sizeOf(c))
	})
	return say(lang, "part.sentences", "first", r.usage(lang), "next",
		say(lang, "rate.inputs", "environment", where.ID, "faults", text.Join(lang, "chart.list", faults)))
}

// usage says how the locks are used.
func (r *Rate) usage(lang string) string {
	spent := "computes"
	if r.Waits {
		spent = "waits"
	}
	return say(lang, "rate.usage", "machines", thousands(r.Machines), "acquisitions", decimal(r.PerSecond), "hold",
		r.Hold.String(),
		"work", say(lang, "rate.work."+spent), "held", amount(r.Holds()), "contended", percent(r.Contended))
}

// Method says how the numbers came about.
func (r *Rate) Method(lang string) string { return say(lang, "rate.method") }

// Inconclusive reports whether a term has no number.
func (r *Rate) Inconclusive() bool {
	return slices.ContainsFunc(r.Terms, func(t cost.Term) bool { return t.Unknown })
}

func subjectID(s *cost.Subject) string { return s.Entry.ID }

// notes explain the signs of a table.
func (r *Rate) notes(lang string) (notes []string) {
	for _, sign := range []struct {
		name string
		on   func(t cost.Term) bool
	}{
		{"assumed", func(t cost.Term) bool { return t.Assumed }},
		{"bare", func(t cost.Term) bool { return t.Bare && t.Expected.Hi > 0 }},
		{"unknown", func(t cost.Term) bool { return t.Unknown }},
	} {
		if slices.ContainsFunc(r.Terms, sign.on) {
			notes = append(notes, say(lang, "rate.note."+sign.name))
		}
	}
	return notes
}

// sources lists the environments with what their figures are worth and where they are from.
func (r *Rate) sources(lang string) []string {
	return lists.Each(r.Environments, func(e cost.Environment) string {
		if e.Quality == cost.Given {
			return say(lang, "rate.source.given", "name", e.ID)
		}
		return say(lang, "rate.source", "name", e.ID, "kind", say(lang, "rate.kind."+string(e.Quality)),
			"what", say(lang, "environment."+e.ID+".what"), "source", say(lang, "environment."+e.ID+".source"))
	})
}

// yearly writes how often a fault strikes a year, with a sign where that is assumed.
func yearly(n float64, assumed bool) string {
	if assumed {
		return number(n) + "*"
	}
	return number(n)
}

// sizeOf says how long a fault lasts, or what is lost with it.
func sizeOf(c cost.Cause) string {
	switch {
	case c.Lengths.String() != "":
		return " x " + c.Lengths.String()
	case c.Fault == "failover" || c.Fault == "restart" && c.Window < cost.Forever:
		return ", " + length(c.Window) + " lost"
	}
	return ""
}

// Table has one row for each lock, environment and TTL. Bounds are equal where the number is known; unknown ones are
// empty, and so is a blockage without end.
func (r *Rate) Table() *Table {
	type at struct {
		cost.Series
		cost.Point
	}
	var points []at
	for _, s := range r.Series {
		points = append(points, lists.Each(s.Points, func(p cost.Point) at { return at{s, p} })...)
	}
	names := "lock environment ttl_s:s overlaps_a_year_lo:1/year overlaps_a_year_hi:1/year " +
		"blocked_after_crash_mean_s:s blocked_after_crash_longest_s:s"
	return tableOf(names, points, func(p at) []any {
		i := slices.IndexFunc(r.Subjects, func(o *cost.Subject) bool { return o.Entry.ID == p.Lock })
		lo, hi := &p.Expected.Lo, &p.Expected.Hi
		if p.Unknown {
			lo, hi = nil, nil
		}
		after := r.Subjects[i].Recovery(p.TTL, r.Hold)
		return []any{p.Lock, p.Environment, whole(p.TTL.Seconds()), lo, hi, cost.Finite(after.Mean),
			cost.Finite(after.Longest)}
	})
}

// more has the terms of which the numbers are sums, what a crash costs, and the environments; null is a number that is
// not known, or has no end.
func (r *Rate) more() map[string]any {
	worst, _, _ := r.worst()
	return map[string]any{"method": r.Method("en"), "ttl_s": whole(r.TTL.Seconds()), "environment": worst.ID,
		"terms": r.Terms,
		"after_a_crash": lists.Each(r.Crashes, func(c cost.Crash) any {
			return map[string]any{"lock": c.Lock, "blocked_mean_s": cost.Finite(c.Mean),
				"blocked_longest_s": cost.Finite(c.Longest)}
		}),
		"environments": lists.Each(r.Environments, func(e cost.Environment) any {
			of := map[string]any{"id": e.ID, "kind": e.Quality}
			if e.Quality != cost.Given {
				of["what"], of["source"] = say("en", "environment."+e.ID+".what"), say("en", "environment."+e.ID+".source")
			}
			return of
		})}
}

// Explain writes the factors of one lock's terms.
func (r *Rate) Explain(w io.Writer, o reports.Look, lock string) error {
	out := o.Lines(w)
	i := slices.IndexFunc(r.Subjects, func(s *cost.Subject) bool { return s.Entry.ID == lock })
	putEach(out, func(lang string) []string {
		return []string{say(lang, "rate.explain", "lock", lock, "ttl", length(r.TTL))}
	})
	out.Put("", 0)
	r.factors(lock).Text(out)
	out.Put("", 0)
	c := r.Crashes[i]
	putEach(out, func(lang string) []string {
		return slices.Concat([]string{r.usage(lang),
			say(lang, "rate.explain.lease", "spans", r.spans(lang, r.Subjects[i])),
			say(lang, "rate.explain.crash", "mean", length(c.Mean), "longest", length(c.Longest))}, r.notes(lang),
			[]string{say(lang, "rate.explain.product"), r.Method(lang)})
	})
	return out.Err()
}

// factors has a row for each cause. What is expected is the product of the numbers from faults_a_year to long_enough;
// of slow work and of lost replies those are seconds, or replies lost of one a second, and holds are those acquired in
// a second.
func (r *Rate) factors(lock string) *Table {
	names := "environment fault faults_a_year servers holds contended window shortest_s:s long_enough harm " +
		"expected_a_year search"
	const year = 31_536_000
	return tableOf(names, r.Of(lock), func(t cost.Term) []any {
		if t.Unknown {
			return []any{t.Environment, t.Fault, nil, nil, nil, nil, nil, nil, nil, t.Harm, "?", searchOf(t)}
		}
		often, holds, shortest, servers := number(t.PerYear), amount(t.Holds), any(nil), any(nil)
		switch {
		case t.Fault == cost.SlowWork:
			often, holds = number(year), number(r.PerSecond)
		case t.Fault == "lose-reply":
			often, holds = number(year*t.PerYear), number(r.PerSecond)
		case t.Assumed:
			often += "*"
		}
		if t.Shortest > 0 {
			shortest = t.Shortest
		}
		if t.Places > 0 {
			servers = t.Places
		}
		return []any{t.Environment, t.Fault, often, servers, holds, t.Contended, amount(t.Window), shortest,
			amount(t.Long), t.Harm, amount(t.Expected), searchOf(t)}
	})
}

// searchOf is what a search has found about the fault of a term, with the sizes in leases between which a lock falls.
func searchOf(t cost.Term) string {
	switch {
	case t.Limit == nil:
		return ""
	case t.Limit.Answer == study.Limited:
		return limitLabel(t.Limit)
	}
	return string(t.Limit.Answer)
}

// spans says how the lease of a lock is renewed.
func (r *Rate) spans(lang string, s *cost.Subject) string {
	switch l := s.Lease; {
	case len(l.Spans) == 0:
		return say(lang, "rate.lease.none")
	case math.IsInf(l.Spans[0].Left, 1):
		return say(lang, "rate.lease.endless")
	case l.Kept:
		return say(lang, "rate.lease.kept", "left", leases(l.Spans[0].Left))
	case len(l.Spans) == 1:
		return say(lang, "rate.lease.once", "left", leases(l.Spans[0].Left))
	default:
		return say(lang, "rate.lease.renewed", "left", leases(l.Spans[0].Left), "at", leases(l.Spans[1].From), "then",
			leases(l.Spans[1].Left))
	}
}

// titleLocks is the number of locks that a title names.
const titleLocks = 7

// worst returns the environment in which a lock is expected to break most often at the TTL, how often, and which locks
// break so often in it.
func (r *Rate) worst() (where cost.Environment, most cost.Interval, locks []string) {
	for _, e := range r.Environments {
		for _, s := range r.Subjects {
			if len(e.Causes) == 0 || len(s.Lease.Spans) == 0 {
				continue
			}
			p := s.At(r.Usage, e, r.TTL)
			switch {
			case p.Unknown || p.Expected.Hi < most.Hi || p.Expected.Hi == 0:
			case p.Expected.Hi > most.Hi:
				where, most, locks = e, p.Expected, []string{subjectID(s)}
			case e.ID == where.ID:
				locks = append(locks, subjectID(s))
			}
		}
	}
	return where, most, locks
}

// Finding says which locks are expected to break most often at the TTL, and in which environment.
func (r *Rate) Finding(lang string) string {
	where, most, locks := r.worst()
	if locks == nil {
		return say(lang, "rate.finding.none", "ttl", length(r.TTL))
	}
	n := number(most.Hi)
	if most.Hi >= 10 { // two digits that count are all that the inputs have
		unit := math.Pow(10, math.Floor(math.Log10(most.Hi))-1)
		n = number(math.Ceil(most.Hi/unit) * unit)
	}
	return say(lang, "rate.finding", "ttl", length(r.TTL), "n", n, "environment", where.ID, "locks", firstNames(lang,
		locks, titleLocks))
}

// Notes implements Result.
func (r *Rate) Notes(lang string) []string {
	foot := append(r.notes(lang), r.Method(lang), say(lang, "rate.sources"))
	for i, line := range r.sources(lang) {
		if len(r.Environments[i].Causes) > 0 {
			foot = append(foot, "  "+line)
		}
	}
	return foot
}

// viewRate has the TTL of the title: an environment a line and a lock a column, and what a crash costs.
func viewRate(c *Chart, _ string) *Table {
	all := lists.Pick(c.Table.records(), func(r record) bool { return r.text("ttl_s") == textOf(c.More["ttl_s"]) })
	t := across(all, []string{"environment"}, "lock", func(of []record) any {
		if math.IsNaN(of[0].number("overlaps_a_year_hi")) {
			return "?"
		}
		return amount(cost.Interval{Lo: of[0].number("overlaps_a_year_lo"), Hi: of[0].number("overlaps_a_year_hi")})
	})
	for _, h := range c.Table.Columns[max(len(c.Table.Columns)-2, 0):] {
		row := []any{h.String()}
		for _, of := range by("lock", all) {
			after := of[0].cell(h.Name)
			switch {
			case of[0].cell("overlaps_a_year_hi") == nil:
				after = "?"
			case after == nil:
				after = "∞"
			}
			row = append(row, after)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// drawRate has a curve for each lock in the environment of the title, or those together that break equally often,
// against the TTL. Those that break most often stand out. None is at the bottom.
func drawRate(c *Chart, lang string) frame {
	where, _ := c.More["environment"].(string)
	all := lists.Pick(c.Table.records(), func(r record) bool {
		return (where == "" || r.text("environment") == where) && !math.IsNaN(r.number("overlaps_a_year_hi"))
	})
	groups := lists.Gather(by("lock", all), func(a, b []record) bool {
		return slices.EqualFunc(a, b, func(a,
			b record) bool {
			return a.text("overlaps_a_year_hi") == b.text("overlaps_a_year_hi")
		})
	})
	often := func(r record) float64 { return r.number("overlaps_a_year_hi") }
	p := ruled(panel(""), false)
	p.Y.Label.Text, p.X.Label.Text = say(lang, "rate.axis.overlaps"), say(lang, "term.ttl.name")
	var labels dots
	var ttls []float64
	top := slices.Max(append(lists.Each(groups, func(g [][]record) float64 { return often(g[0][0]) }), 0))
	for _, g := range groups {
		m := curve{stands: often(g[0][0]) == top && top > 0}
		m.color = inColor(m.stands)
		for _, r := range g[0] {
			m.points = append(m.points, point{x: r.number("ttl_s"), y: often(r)})
			ttls = append(ttls, r.number("ttl_s"))
		}
		p.Add(m)
		names := lists.Each(g, func(of []record) string { return of[0].text("lock") })
		last := m.points[len(m.points)-1]
		labels = append(labels, dot{x: last.x, y: last.y, color: m.color, label: " " + firstNames(lang, names, 3),
			bold: m.stands})
	}
	p.Add(labels)
	logarithmic(&p.Y, lists.Each(all, often), number)
	p.Y.Min /= 10 // the line of none
	p.Y.Tick.Marker = append(p.Y.Tick.Marker.(plot.ConstantTicks), plot.Tick{Value: p.Y.Min, Label: "0"})
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, labelled(spaced(ttls), func(s float64) string {
		return tick(time.Duration(s * float64(time.Second)))
	})
	p.X.Min, p.X.Max = 1, 10
	if len(ttls) > 0 {
		p.X.Min, p.X.Max = slices.Min(ttls), slices.Max(ttls)
	}
	return frame{below: []string{say(lang, "rate.below")}, body: panels(1, p), least: vg.Point{Y: 200}}
}

// spaced are the values of which each is at least half as large again as the one before.
func spaced(all []float64) (some []float64) {
	slices.Sort(all)
	for _, v := range all {
		if len(some) == 0 || v >= 1.5*some[len(some)-1] {
			some = append(some, v)
		}
	}
	return some
}

// tick writes a TTL for an axis.
func tick(ttl time.Duration) string {
	if s := ttl.Seconds(); s >= 1 && s < 300 {
		return decimal(s) + " s"
	}
	return length(ttl)
}
