package chart

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Rate draws how often locks are expected to break in a year, against their TTL, and
// beside it for how long a crash blocks them.
type Rate struct{ cost.Rates }

// Title returns the question of the chart.
func (r *Rate) Title(lang string) string { return say(lang, "rate.title") }

// Assumptions are how the locks are used.
func (r *Rate) Assumptions(lang string) string {
	return usage(r, lang, "rate.usage", "rate.work.")
}

// usage says how locks are used, by a text and those of what a hold is spent on.
func usage(r *Rate, lang, key, work string) string {
	spent := "computes"
	if r.Waits {
		spent = "waits"
	}
	return say(lang, key, "machines", thousands(r.Machines), "acquisitions", decimal(r.PerSecond), "hold", r.Hold.String(),
		"work", say(lang, work+spent), "held", amount(r.Holds()), "contended", percent(r.Contended), "ttl", length(r.TTL))
}

// Method says how the numbers came about.
func (r *Rate) Method(lang string) string { return say(lang, "rate.method") }

// Inconclusive reports whether a term has no number.
func (r *Rate) Inconclusive() bool {
	return slices.ContainsFunc(r.Terms, func(t cost.Term) bool { return t.Unknown })
}

// Takeaway says for each group of locks how often the worst environment breaks them, from
// which TTL on it does not, and what that TTL costs after a crash.
func (r *Rate) Takeaway(lang string) string {
	groups := r.Groups()
	about := func(i int) string { return r.about(lang, r.Subjects[groups[i][0]]) }
	return aboutEach(lang, lists.Each(groups, r.head), about)
}

func (r *Rate) about(lang string, s *cost.Subject) string {
	var worst cost.Environment
	most := cost.Point{}
	for _, e := range r.Environments {
		if len(e.Causes) == 0 {
			continue
		}
		p := s.At(r.Usage, e, r.TTL)
		if cmp.Or(cmp.Compare(p.Expected.Lo, most.Expected.Lo), cmp.Compare(p.Expected.Hi, most.Expected.Hi)) > 0 || worst.ID == "" {
			worst, most = e, p
		}
	}
	blocked := func(ttl time.Duration) string {
		if mean := s.Recovery(ttl, r.Hold).Mean; mean < cost.Forever {
			return say(lang, "rate.blocked", "time", length(mean))
		}
		return say(lang, "rate.blocked.ever")
	}
	switch {
	case len(s.Lease.Spans) == 0 || most.Unknown:
		return say(lang, "rate.untold")
	case most.Expected.Hi == 0:
		return say(lang, "rate.never", "ttl", length(r.TTL), "blocked", blocked(r.TTL))
	}
	first := say(lang, "rate.breaks", "n", amount(most.Expected), "environment", worst.ID, "ttl", length(r.TTL), "blocked", blocked(r.TTL))
	if from := r.Threshold(s, worst); from > 0 {
		return first + say(lang, "rate.from", "ttl", length(from), "blocked", blocked(from))
	}
	return first + say(lang, "rate.always", "ttl", length(r.TTLs[len(r.TTLs)-1]))
}

// head names the locks of a group.
func (r *Rate) head(group []int) string {
	return strings.Join(lists.Each(group, func(i int) string { return subjectID(r.Subjects[i]) }), ", ")
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

func causeName(lang string, t cost.Term) string {
	if t.Fault == cost.SlowWork {
		return say(lang, "rate.slow")
	}
	return t.Environment + ": " + t.Fault
}

// yearly writes how often a fault strikes a year, with a sign where that is assumed.
func yearly(n float64, assumed bool) string {
	if assumed {
		return number(n) + "*"
	}
	return number(n)
}

// often says how often a fault strikes, and for how long.
func (r *Rate) often(t cost.Term) string {
	if t.Fault == cost.SlowWork {
		return ""
	}
	return yearly(t.PerYear, t.Assumed) + sizeOf(r.cause(t))
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

func (r *Rate) cause(t cost.Term) (found cost.Cause) {
	for _, e := range r.Environments {
		i := slices.IndexFunc(e.Causes, func(c cost.Cause) bool { return c.Fault == t.Fault && c.PerYear == t.PerYear })
		if e.ID == t.Environment && i >= 0 {
			return e.Causes[i]
		}
	}
	return found
}

func cellOf(t cost.Term) string {
	switch {
	case t.Unknown:
		return "?"
	case t.Harm != "OVERLAP" && t.Expected.Hi > 0:
		return string(t.Harm) + " " + amount(t.Expected)
	}
	return amount(t.Expected)
}

// text has a cause per line and a lock per column, and what a crash costs.
func (r *Rate) text(out *layout.Lines) {
	before := func(lang string) []string {
		return []string{say(lang, "rate.head", "ttl", length(r.TTL)), r.Assumptions(lang)}
	}
	show(out, before, r.table, func(lang string) []string {
		sources := lists.Each(r.sources(lang), func(line string) string { return "  " + line })
		method := []string{r.Method(lang), say(lang, "rate.sources")}
		return slices.Concat([]string{r.Takeaway(lang)}, r.notes(lang), method, sources)
	})
}

func (r *Rate) table(out *layout.Lines) {
	lang := out.Lang()
	names := append([]string{say(lang, "rate.cause"), say(lang, "rate.often")}, lists.Each(r.Subjects, subjectID)...)
	sheet := &layout.Sheet{Rows: [][]string{names}, Right: layout.From(2), Floor: 7}
	defer sheet.WriteOrList(out, 1)
	if len(r.Subjects) == 0 {
		return
	}
	for n, t := range r.Of(r.Subjects[0].Entry.ID) {
		cells := lists.Each(r.Subjects, func(s *cost.Subject) string { return cellOf(r.Of(s.Entry.ID)[n]) })
		sheet.Rows = append(sheet.Rows, append([]string{causeName(lang, t), r.often(t)}, cells...))
	}
	crashes := func(key string, of func(cost.Crash) time.Duration) {
		row := []string{say(lang, key), ""}
		for i, c := range r.Crashes {
			if len(r.Subjects[i].Lease.Spans) == 0 {
				row = append(row, "?")
			} else {
				row = append(row, length(of(c)))
			}
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	crashes("rate.crash.mean", func(c cost.Crash) time.Duration { return c.Mean })
	crashes("rate.crash.longest", func(c cost.Crash) time.Duration { return c.Longest })
	if slices.ContainsFunc(r.Crashes, func(c cost.Crash) bool { return c.PerYear > 0 }) {
		crashes("rate.crash.year", func(c cost.Crash) time.Duration { return c.PerYear })
	}
}

// records has one line for each lock, environment and TTL. Bounds are equal where the
// number is known; unknown ones are empty, and so is a blockage without end.
func (r *Rate) records() [][]any {
	all := [][]any{header("strategy environment ttl_s overlaps_a_year_lo overlaps_a_year_hi " +
		"blocked_after_crash_mean_s blocked_after_crash_longest_s")}
	for _, s := range r.Series {
		i := slices.IndexFunc(r.Subjects, func(o *cost.Subject) bool { return o.Entry.ID == s.Strategy })
		for _, p := range s.Points {
			lo, hi := bounds(p)
			after := r.Subjects[i].Recovery(p.TTL, r.Hold)
			all = append(all, []any{s.Strategy, s.Environment, decimal(p.TTL.Seconds()), lo, hi,
				cost.Finite(after.Mean), cost.Finite(after.Longest)})
		}
	}
	return all
}

// data has null for a number that is not known, or has no end.
func (r *Rate) data() object {
	return object{"takeaway", r.Takeaway("en"), "usage", r.Assumptions("en"), "method", r.Method("en"),
		"ttl_s", r.TTL.Seconds(), "terms", r.Terms, "after_a_crash", lists.Each(r.Crashes, func(c cost.Crash) object {
			return object{"strategy", c.Strategy, "blocked_mean_s", cost.Finite(c.Mean), "blocked_longest_s", cost.Finite(c.Longest)}
		}),
		"series", lists.Each(r.Series, func(s cost.Series) object {
			points := lists.Each(s.Points, func(p cost.Point) object {
				lo, hi := bounds(p)
				return object{"ttl_s", p.TTL.Seconds(), "overlaps_a_year_lo", lo, "overlaps_a_year_hi", hi}
			})
			return object{"strategy", s.Strategy, "environment", s.Environment, "points", points}
		}),
		"environments", lists.Each(r.Environments, func(e cost.Environment) object {
			of := object{"id", e.ID, "kind", e.Quality}
			if e.Quality == cost.Given {
				return of
			}
			return append(of, "what", say("en", "environment."+e.ID+".what"), "source", say("en", "environment."+e.ID+".source"))
		})}
}

// bounds are those of a number of failures; nil: it is not known.
func bounds(p cost.Point) (lo, hi *float64) {
	if p.Unknown {
		return nil, nil
	}
	return &p.Expected.Lo, &p.Expected.Hi
}

// Explain writes the terms of one lock, factor by factor.
func (r *Rate) Explain(w io.Writer, o reports.Look, strategy string) error {
	out := o.Lines(w)
	lang := out.Lang()
	i := slices.IndexFunc(r.Subjects, func(s *cost.Subject) bool { return s.Entry.ID == strategy })
	s := r.Subjects[i]
	for _, lang := range out.Langs() {
		out.Put(say(lang, "rate.explain", "lock", strategy, "ttl", length(r.TTL)), 0)
		out.Put(r.Assumptions(lang), 0)
		out.Put(say(lang, "rate.explain.lease", "spans", r.spans(lang, s)), 0)
	}
	for _, t := range r.Of(strategy) {
		out.Put("", 0)
		out.Put(causeName(lang, t), 0)
		for _, line := range r.factors(lang, t) {
			out.Put("  "+line, 4)
		}
	}
	out.Put("", 0)
	c := r.Crashes[i]
	for _, lang := range out.Langs() {
		out.Put(say(lang, "rate.explain.crash", "mean", length(c.Mean), "longest", length(c.Longest)), 0)
		out.Put(r.Method(lang), 0)
	}
	return out.Err()
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
		return say(lang, "rate.lease.renewed", "left", leases(l.Spans[0].Left), "at", leases(l.Spans[1].From), "then", leases(l.Spans[1].Left))
	}
}

func (r *Rate) factors(lang string, t cost.Term) (lines []string) {
	put := func(sign, key string, value string, pairs ...string) {
		lines = append(lines, sign+" "+layout.PadLeft(value, 12)+"  "+say(lang, key, pairs...))
	}
	if t.Unknown {
		return []string{say(lang, "rate.explain.unknown")}
	}
	seconds := number(31_536_000)
	switch t.Fault {
	case cost.SlowWork:
		put(" ", "rate.factor.acquisitions", number(r.PerSecond))
		put("x", "rate.factor.seconds", seconds)
	case "lose-reply":
		put(" ", "rate.factor.acquisitions", number(r.PerSecond))
		put("x", "rate.factor.seconds", seconds)
		put("x", "rate.factor.lost", number(t.PerYear))
	default:
		key := "rate.factor.machine"
		if t.Places > 0 {
			key = "rate.factor.server"
		}
		put(" ", key, yearly(t.PerYear, t.Assumed))
		if t.Places > 1 {
			put("x", "rate.factor.servers", strconv.Itoa(t.Places))
		}
		put("x", "rate.factor.holds", amount(t.Holds))
	}
	if t.Fault != "lose-reply" {
		put("x", "rate.factor.contended", number(t.Contended))
	}
	if t.Fault != cost.SlowWork && t.Fault != "lose-reply" {
		put("x", "rate.factor.window", amount(t.Window))
	}
	switch {
	case t.Shortest > 0:
		put("x", "rate.factor.long", amount(t.Long), "shortest", length(t.Shortest))
	case t.Shortest < 0:
		put("x", "rate.factor.never", amount(t.Long))
	}
	put("=", "rate.factor.harm", amount(t.Expected), "harm", string(t.Harm))
	if t.Limit != nil {
		lines = append(lines, say(lang, "rate.explain.search", "what", limitSentence(lang, t.Limit)))
	}
	return lines
}

// limitSentence says what search has found about one fault.
func limitSentence(lang string, l *study.Limit) string {
	_, words := limitWords(lang, l)
	return strings.Replace(words, "{locks}", l.Strategy+", "+l.Fault+":", 1)
}

// The measures of a chart of rates, in points.
const (
	ratePanel   vg.Length = 112 // least height of a panel
	rateTitle   vg.Length = 24  // above its axes
	rateLeft    vg.Length = 44  // beside its axes
	rateBelow   vg.Length = 24
	rateZero    vg.Length = 12 // height of the strip for "none"
	rateColumns           = 2
)

// titleLocks is the number of locks that a title names.
const titleLocks = 7

// Finding says which locks are expected to break most often at the TTL, and in which environment.
func (r *Rate) Finding(lang string) string {
	var worst []string
	var where cost.Environment
	most := cost.Point{}
	for _, e := range r.Environments {
		for _, s := range r.Subjects {
			if len(e.Causes) == 0 || len(s.Lease.Spans) == 0 {
				continue
			}
			p := s.At(r.Usage, e, r.TTL)
			switch {
			case p.Unknown || p.Expected.Hi < most.Expected.Hi || p.Expected.Hi == 0:
			case p.Expected.Hi > most.Expected.Hi:
				worst, where, most = []string{subjectID(s)}, e, p
			case e.ID == where.ID:
				worst = append(worst, subjectID(s))
			}
		}
	}
	if worst == nil {
		return say(lang, "rate.finding.none", "ttl", length(r.TTL))
	}
	who := firstNames(lang, worst, titleLocks)
	return say(lang, "rate.finding", "ttl", length(r.TTL), "n", amount(most.Expected), "environment", where.ID, "locks", who)
}

// picture has a panel for each group of locks that behave alike, and one for what a crash
// costs, all over the same TTLs.
func (r *Rate) picture(f Format) picture {
	lang := f.Lang
	p := &ratePlot{Rate: r, lang: lang, groups: r.Groups(), shade: r.Hold.Longest()}
	spoken := slices.DeleteFunc(slices.Clone(r.Environments), func(e cost.Environment) bool { return len(e.Causes) == 0 })
	p.lines = lists.Gather(spoken, r.same)
	p.scale()
	key := rows((len(p.lines)+1)/2, smallLine, func(c draw.Canvas, row int, y vg.Length) {
		for i := 2 * row; i < min(2*row+2, len(p.lines)); i++ {
			x := c.Min.X + c.Size().X*vg.Length(i%2)/2
			sample(c, styleAt(i), x, x+26, y)
			write(c, small, x+32, y, fitText(small, environmentLabel(lang, p.lines[i]), c.Size().X/2-40))
		}
	})
	n := len(p.groups) + 1
	all := panels(n, min(rateColumns, n), ratePanel, func(c draw.Canvas, i int) {
		f := draw.Crop(c, rateLeft, -8, rateBelow, -rateTitle)
		if i < len(p.groups) {
			p.overlaps(f, p.groups[i])
		} else {
			p.crashes(f)
		}
	})
	return f.fitted(r, []string{usage(r, lang, "rate.below", "rate.below.")}, 0, func(vg.Length) []block { return []block{key, space(6), all} })
}

// Notes implements Chart.
func (r *Rate) Notes(lang string) []string {
	foot := []string{r.Assumptions(lang), say(lang, "rate.legend", "notes", strings.Join(r.notes(lang), " ")),
		r.Method(lang), say(lang, "rate.sources")}
	for i, line := range r.sources(lang) {
		if len(r.Environments[i].Causes) > 0 {
			foot = append(foot, line)
		}
	}
	return foot
}

type ratePlot struct {
	*Rate
	lang    string
	groups  [][]int
	lines   [][]cost.Environment // of which the same is expected everywhere
	low     float64              // least of the scale of overlaps, a power of ten
	top     float64              // its top, likewise
	blocked float64              // top of the scale of blocked seconds, likewise
	shade   time.Duration
}

// same reports whether two environments break all locks equally often.
func (r *Rate) same(a, b cost.Environment) bool {
	for _, s := range r.Subjects {
		for _, ttl := range r.TTLs {
			if s.At(r.Usage, a, ttl) != s.At(r.Usage, b, ttl) {
				return false
			}
		}
	}
	return true
}

// environmentLabel says what the environments of a line do, and how often.
func environmentLabel(lang string, l []cost.Environment) string {
	what := lists.Each(l[0].Causes, func(c cost.Cause) string {
		one := c.Fault + " " + say(lang, "rate.once", "n", yearly(c.PerYear, c.Assumed))
		if c.Lengths.String() != "" {
			one += ", " + c.Lengths.String()
		}
		return one
	})
	return say(lang, "rate.legend.environment", "name", text.Join(lang, "chart.list", lists.Each(l,
		func(e cost.Environment) string { return e.ID })), "causes", text.Join(lang, "grid.join", what))
}

func (p *ratePlot) scale() {
	most, least, longest := 1.0, 1.0, 1.0
	for _, s := range p.Series {
		for _, point := range s.Points {
			if point.TTL <= p.shade || point.Unknown {
				continue
			}
			most = max(most, point.Expected.Hi)
			if point.Expected.Hi > 0 {
				least = min(least, point.Expected.Hi)
			}
		}
	}
	for _, s := range p.Subjects {
		for _, ttl := range p.TTLs {
			if rec := s.Recovery(ttl, p.Hold); rec.Longest < cost.Forever {
				longest = max(longest, rec.Longest.Seconds())
			}
		}
	}
	p.top = math.Pow(10, math.Ceil(math.Log10(most*1.05)))
	p.low = min(math.Pow(10, math.Floor(math.Log10(least))), p.top/100)
	p.low = max(p.low, p.top/1e7)
	p.blocked = math.Pow(10, math.Ceil(math.Log10(longest)))
}

// x is the positions of TTLs in seconds.
func (p *ratePlot) x(f draw.Canvas) func(seconds float64) vg.Length {
	return logarithmic(f.X, p.TTLs[0].Seconds(), p.TTLs[len(p.TTLs)-1].Seconds())
}

// logY is the position of a value on a logarithmic scale from low to top above the strip
// for none.
func logY(f draw.Canvas, low, top, value float64) vg.Length {
	if value <= 0 {
		return f.Min.Y
	}
	share := plot.LogScale{}.Normalize(low, top, max(value, low))
	return f.Min.Y + rateZero + (f.Size().Y-rateZero)*vg.Length(min(share, 1))
}

// axes draws the frame of a panel, with the powers of ten from low to top; the strip for none has
// a label, or there is none.
func (p *ratePlot) axes(f draw.Canvas, title, unit string, low, top float64, zero string) {
	title = fitText(strong, title, f.Size().X+rateLeft-faint.Width(unit)-8)
	write(f, strong, f.Min.X-rateLeft, f.Max.Y+14, title)
	write(f, faint, f.Min.X-rateLeft+strong.Width(title)+6, f.Max.Y+14, unit)
	if zero != "" {
		fillBox(f, box(f.Min.X, f.Min.Y, f.Max.X, f.Min.Y+rateZero-4), stripe)
	}
	if p.shade > p.TTLs[0] {
		fillBox(f, box(f.Min.X, f.Min.Y, min(p.x(f)(p.shade.Seconds()), f.Max.X), f.Max.Y), paleGrey)
	}
	every := 1
	if math.Log10(top/low) > 6 {
		every = 2
	}
	values := slices.DeleteFunc(decades(low, top, every, places(6)), func(t plot.Tick) bool { return t.Label == "" })
	rulesY(f, small, func(v float64) vg.Length { return logY(f, low, top, v) }, values)
	write(f, aligned(small, draw.XRight), f.Min.X-4, logY(f, low, top, 0), zero)
	var ttls []plot.Tick
	x := p.x(f)
	last := vg.Length(-100)
	for _, ttl := range p.TTLs {
		t := plot.Tick{Value: ttl.Seconds()}
		if half := small.Width(tick(ttl)) / 2; x(t.Value)-half > last+4 {
			t.Label, last = tick(ttl), x(t.Value)+half
		}
		ttls = append(ttls, t)
	}
	marksX(f, small, 9, x, ttls)
	write(f, aligned(faint, draw.XRight), f.Min.X-8, f.Min.Y-9, say(p.lang, "rate.axis.ttl"))
	f.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.5}, f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
}

// tick writes a TTL for an axis.
func tick(ttl time.Duration) string {
	if s := ttl.Seconds(); s >= 1 && s < 300 {
		return decimal(s) + "s"
	}
	return length(ttl)
}

// steps is the number of TTLs of a curve.
const steps = 240

// curve yields TTLs from the first to the last, evenly on the scale, by number; those that are shorter than
// the work are left out.
func (p *ratePlot) curve(yield func(n int, ttl time.Duration) bool) {
	first, last := p.TTLs[0].Seconds(), p.TTLs[len(p.TTLs)-1].Seconds()
	for n := range steps + 1 {
		ttl := time.Duration(first * math.Pow(last/first, float64(n)/steps) * float64(time.Second))
		if ttl >= p.shade && !yield(n, ttl) {
			return
		}
	}
}

// overlaps draws how often the locks of a group are expected to break: a line where the number is known,
// dots where it is an upper bound.
func (p *ratePlot) overlaps(f draw.Canvas, group []int) {
	p.axes(f, p.head(group), say(p.lang, "rate.axis.overlaps"), p.low, p.top, "0")
	s := p.Subjects[group[0]]
	if len(s.Lease.Spans) == 0 {
		style := aligned(writing(textSize, faintInk), draw.XCenter)
		write(f, style, (f.Min.X+f.Max.X)/2, (f.Min.Y+f.Max.Y)/2, say(p.lang, "rate.untold"))
		return
	}
	for i, l := range p.lines {
		st := styleAt(i)
		bounds := draw.LineStyle{Color: st.color, Width: 1.1, Dashes: []vg.Length{1, 2.4}}
		var part []vg.Point
		exact, marked := true, -steps
		flush := func() {
			style := bounds
			if exact {
				style = st.line(1.8)
			}
			f.StrokeLines(style, part)
			part = nil
		}
		for n, ttl := range p.curve {
			point := s.At(p.Usage, l[0], ttl)
			if point.Unknown {
				flush()
				continue
			}
			at := vg.Point{X: p.x(f)(ttl.Seconds()), Y: logY(f, p.low, p.top, point.Expected.Hi)}
			if now := point.Expected.Lo == point.Expected.Hi; now != exact {
				if part != nil {
					part = append(part, at) // the parts join
				}
				flush()
				exact = now
			}
			part = append(part, at)
			if n-marked >= steps/5 && n > steps/40*(i+1) {
				marked = n
				f.DrawGlyph(st.glyph(2.6), at)
			}
		}
		flush()
	}
}

// crashes draws for how long a crash blocks the locks of each group.
func (p *ratePlot) crashes(f draw.Canvas) {
	low := math.Pow(10, math.Floor(math.Log10(p.TTLs[0].Seconds()/2)))
	p.axes(f, say(p.lang, "rate.panel.crash"), say(p.lang, "rate.axis.blocked")+" (s)", low, p.blocked, "")
	var taken []vg.Length
	for i, g := range p.groups {
		s, st := p.Subjects[g[0]], styleOf(p.Subjects[g[0]].Entry.ID)
		if len(s.Lease.Spans) == 0 {
			continue
		}
		var mean []vg.Point
		for _, ttl := range p.curve {
			y := f.Max.Y - 5
			if rec := s.Recovery(ttl, p.Hold); rec.Mean < cost.Forever {
				y = logY(f, low, p.blocked, rec.Mean.Seconds())
			}
			mean = append(mean, vg.Point{X: p.x(f)(ttl.Seconds()), Y: y})
		}
		f.StrokeLines(st.line(1.8), mean)
		if len(mean) == 0 {
			continue
		}
		label := fitText(small, p.head(g), f.Size().X*0.8)
		if s.Recovery(p.TTLs[0], p.Hold).Mean == cost.Forever {
			y := mean[0].Y - 8
			write(f, small, mean[0].X+4, y, label+": "+say(p.lang, "rate.ever"))
			taken = append(taken, y)
			continue
		}
		y := f.Min.Y + 8 + vg.Length(i)*11
		for slices.ContainsFunc(taken, func(t vg.Length) bool { return math.Abs(float64(t-y)) < 10 }) {
			y += 11
		}
		taken = append(taken, y)
		x := f.Max.X - 6
		write(f, aligned(small, draw.XRight), x-26, y, label)
		f.StrokeLine2(st.line(1.8), x-22, y, x, y)
	}
}
