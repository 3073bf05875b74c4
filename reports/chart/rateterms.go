package chart

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
)

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
