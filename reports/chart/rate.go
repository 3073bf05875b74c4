package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
)

// A Rate draws how often locks are expected to break in a year, against their TTL, and
// beside it for how long a crash blocks them.
type Rate struct {
	cost.Rates
	Lang string // of the pictures
}

// Title is what the chart asks.
func (r *Rate) Title(lang string) string { return say(lang, "rate.title") }

// Assumptions are how the locks are used.
func (r *Rate) Assumptions(lang string) string {
	work := "rate.work.computes"
	if r.Waits {
		work = "rate.work.waits"
	}
	return say(lang, "rate.usage", "machines", thousands(r.Machines), "acquisitions", decimal(r.PerSecond), "hold", r.Hold.String(),
		"work", say(lang, work), "held", amount(r.Holds()), "contended", percent(r.Contended), "ttl", length(r.TTL))
}

// Method says how the numbers came about.
func (r *Rate) Method(lang string) string { return say(lang, "rate.method") }

// Inconclusive says whether a term has no number.
func (r *Rate) Inconclusive() bool {
	return slices.ContainsFunc(r.Terms, func(t cost.Term) bool { return t.Unknown })
}

// length writes a duration as short as it can be.
func length(d time.Duration) string {
	if d >= cost.Forever {
		return "∞"
	}
	s := d.Round(time.Millisecond)
	if d >= time.Minute {
		s = d.Round(time.Second)
	}
	out := s.String()
	if strings.HasSuffix(out, "m0s") {
		out = strings.TrimSuffix(out, "0s")
	}
	if strings.HasSuffix(out, "h0m") {
		out = strings.TrimSuffix(out, "0m")
	}
	return out
}

// number writes three digits that count.
func number(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case x == 0:
		return "0"
	case x >= 100 && x < 1e9:
		return thousands(int(math.Round(x)))
	case x >= 1e9 || x < 0.001:
		return strconv.FormatFloat(x, 'e', 1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// amount writes an interval: one number, a bound, or both ends.
func amount(i cost.Interval) string {
	lo, hi := number(i.Lo), number(i.Hi)
	switch {
	case lo == hi:
		return lo
	case i.Lo == 0:
		return "<= " + hi
	}
	return lo + ".." + hi
}

// head names the locks of a group.
func (r *Rate) head(group []int) string {
	var ids []string
	for _, i := range group {
		ids = append(ids, r.Subjects[i].Entry.ID)
	}
	return strings.Join(ids, ", ")
}

// Text writes a cause per line and a lock per column, and what a crash costs.
func (r *Rate) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(say(lang, "rate.head", "ttl", length(r.TTL)), 0)
		out.Put(r.Assumptions(lang), 0)
	}
	out.Put("", 0)
	lang := out.Lang()
	head := []string{say(lang, "rate.cause"), say(lang, "rate.often")}
	right := map[int]bool{}
	for i, s := range r.Subjects {
		head = append(head, s.Entry.ID)
		right[i+2] = true
	}
	sheet := layout.Sheet{Rows: [][]string{head}, Right: right, Floor: 7}
	if len(r.Subjects) > 0 {
		first := r.Of(r.Subjects[0].Entry.ID)
		for n, t := range first {
			row := []string{causeName(lang, t), r.often(lang, t)}
			for _, s := range r.Subjects {
				row = append(row, r.cell(lang, r.Of(s.Entry.ID)[n]))
			}
			sheet.Rows = append(sheet.Rows, row)
		}
		sheet.Rows = append(sheet.Rows, r.crashRow(lang, "rate.crash.mean", func(c cost.Crash) time.Duration { return c.Mean }),
			r.crashRow(lang, "rate.crash.longest", func(c cost.Crash) time.Duration { return c.Longest }))
		if slices.ContainsFunc(r.Crashes, func(c cost.Crash) bool { return c.PerYear > 0 }) {
			sheet.Rows = append(sheet.Rows, r.crashRow(lang, "rate.crash.year", func(c cost.Crash) time.Duration { return c.PerYear }))
		}
	}
	sheet.WriteOrList(out, 1)
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(r.Takeaway(lang), 0)
		for _, note := range r.notes(lang) {
			out.Put(note, 0)
		}
		out.Put(r.Method(lang), 0)
		out.Put(say(lang, "rate.sources"), 0)
		for _, line := range r.sources(lang) {
			out.Put("  "+line, 4)
		}
	}
	return out.Err()
}

func (r *Rate) crashRow(lang, key string, of func(cost.Crash) time.Duration) []string {
	row := []string{say(lang, key), ""}
	for i, c := range r.Crashes {
		blocked := length(of(c))
		if len(r.Subjects[i].Lease.Spans) == 0 {
			blocked = "?"
		}
		row = append(row, blocked)
	}
	return row
}

// notes explain the signs of a table.
func (r *Rate) notes(lang string) (notes []string) {
	has := func(f func(t cost.Term) bool) bool { return slices.ContainsFunc(r.Terms, f) }
	if has(func(t cost.Term) bool { return t.Assumed }) {
		notes = append(notes, say(lang, "rate.note.assumed"))
	}
	if has(func(t cost.Term) bool { return t.Bare && t.Expected.Hi > 0 }) {
		notes = append(notes, say(lang, "rate.note.bare"))
	}
	if has(func(t cost.Term) bool { return t.Unknown }) {
		notes = append(notes, say(lang, "rate.note.unknown"))
	}
	return notes
}

func causeName(lang string, t cost.Term) string {
	if t.Fault == cost.SlowWork {
		return say(lang, "rate.slow")
	}
	return t.Environment + ": " + t.Fault
}

// often says how often a fault strikes, and for how long.
func (r *Rate) often(lang string, t cost.Term) string {
	if t.Fault == cost.SlowWork {
		return ""
	}
	out := number(t.PerYear)
	if t.Assumed {
		out += "*"
	}
	return out + sizeOf(r.cause(t))
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

func (r *Rate) cause(t cost.Term) cost.Cause {
	for _, e := range r.Environments {
		if e.ID == t.Environment {
			for _, c := range e.Causes {
				if c.Fault == t.Fault && c.PerYear == t.PerYear {
					return c
				}
			}
		}
	}
	return cost.Cause{}
}

func (r *Rate) cell(lang string, t cost.Term) string {
	switch {
	case t.Unknown:
		return "?"
	case t.Harm != "OVERLAP" && t.Expected.Hi > 0:
		return string(t.Harm) + " " + amount(t.Expected)
	}
	return amount(t.Expected)
}

// sources lists the environments with what their figures are worth and where they are from.
func (r *Rate) sources(lang string) (lines []string) {
	for _, e := range r.Environments {
		key := "environment." + e.ID
		if e.Kind == cost.Given {
			lines = append(lines, say(lang, "rate.source.given", "name", e.ID))
			continue
		}
		lines = append(lines, say(lang, "rate.source", "name", e.ID, "what", say(lang, key+".what"), "kind", say(lang, "rate.kind."+string(e.Kind)), "source", say(lang, key+".source")))
	}
	return lines
}

// Takeaway says for each group of locks how often the worst environment breaks them, from
// which TTL on it does not, and what that TTL costs after a crash.
func (r *Rate) Takeaway(lang string) string {
	var names, texts []string
	for _, g := range r.Groups() {
		names = append(names, r.head(g))
		texts = append(texts, r.about(lang, r.Subjects[g[0]]))
	}
	return aboutEach(lang, names, texts)
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

// CSV writes one line for each lock, environment and TTL. Bounds are equal where the
// number is known; unknown ones are empty, and so is a blockage without end.
func (r *Rate) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "environment", "ttl_s", "overlaps_a_year_lo", "overlaps_a_year_hi", "blocked_after_crash_mean_s", "blocked_after_crash_longest_s"}}
	for _, s := range r.Series {
		i := slices.IndexFunc(r.Subjects, func(o *cost.Subject) bool { return o.Entry.ID == s.Strategy })
		for _, p := range s.Points {
			row := []string{s.Strategy, s.Environment, decimal(p.TTL.Seconds()), "", "", "", ""}
			if !p.Unknown {
				row[3], row[4] = significant(p.Expected.Lo), significant(p.Expected.Hi)
			}
			if rec := r.Subjects[i].Recovery(p.TTL, r.Hold); rec.Mean < cost.Forever {
				row[5], row[6] = significant(rec.Mean.Seconds()), significant(rec.Longest.Seconds())
			}
			records = append(records, row)
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing rates: %w", err)
	}
	return nil
}

func significant(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// Explain writes the terms of one lock, factor by factor.
func (r *Rate) Explain(w io.Writer, o reports.Options, strategy string) error {
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
		often := number(t.PerYear)
		if t.Assumed {
			often += "*"
		}
		put(" ", key, often)
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
