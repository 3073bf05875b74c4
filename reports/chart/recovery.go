package chart

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"

	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A RecoveryChart draws for how long others are blocked after a crash, by lock, against the work of the holder.
type RecoveryChart struct{ Recoveries []cost.Recovery }

// Name is that of Result, and so are the next ones.
func (c *RecoveryChart) Name() string { return "recovery" }

// Assumptions say when the client crashes.
func (c *RecoveryChart) Assumptions(lang string) string {
	ttl := slices.Concat(c.Recoveries, []cost.Recovery{{}})[0].TTL // the same for all
	return say(lang, "recovery.assumptions", "ttl", length(ttl))
}

// Table has one row for each lock and length of work.
func (c *RecoveryChart) Table() *Table { return tableBy(c.Recoveries) }

// Finding says for how long a crash blocks the lock on average, and with which locks for ever, or for longest.
func (c *RecoveryChart) Finding(lang string) string {
	locks := func(of func(d time.Duration) bool) []string {
		some := lists.Pick(c.Recoveries, func(r cost.Recovery) bool { return of(r.Mean) })
		return values("lock", tableBy(some).records())
	}
	known := lists.Pick(c.Recoveries, func(r cost.Recovery) bool { return r.Mean >= 0 && r.Mean < cost.Forever })
	if known == nil {
		return say(lang, "recovery.none")
	}
	least, most := extremes(known, func(r cost.Recovery) float64 { return r.Mean.Seconds() })
	short, long := extremes(known, func(r cost.Recovery) float64 { return r.Work.Seconds() })
	never := locks(func(d time.Duration) bool { return d == cost.Forever })
	slow := locks(func(d time.Duration) bool { return d == most.Mean })
	key, named := "recovery.finding", never
	switch {
	case never != nil:
		key = "recovery.finding.never"
	case len(slow) < len(locks(func(d time.Duration) bool { return d >= 0 })):
		key, named = "recovery.finding.some", slow
	}
	shown := func(d time.Duration) string { return length(d.Round(10 * time.Millisecond)) }
	return say(lang, key, "least", shown(least.Mean), "longest", shown(most.Mean), "short", length(short.Work), "long",
		length(long.Work), "locks", firstNames(lang, named, titleLocks))
}

// Notes implements Result.
func (c *RecoveryChart) Notes(lang string) []string { return []string{say(lang, "recovery.note")} }

// viewRecovery has a line for some lengths of work, and a column for each lock.
func viewRecovery(c *Chart, _ string) *Table {
	all := c.Table.records()
	some := values("work_ns", all)
	last := len(some) - 1
	some = lists.Pick(some, func(work string) bool { i := slices.Index(some, work); return i%4 == 0 || i == last })
	all = lists.Pick(all, func(r record) bool { return slices.Contains(some, r.text("work_ns")) })
	return across(all, []string{"work_ns"}, "lock", func(of []record) any { return of[0].shown("blocked_mean_ns") })
}

// longestOf is for how long a lock is blocked on average, with the work with which that is longest.
func longestOf(of []record) float64 { return slices.Max(numbers("blocked_mean_ns", of)) }

// drawRecovery has a line for each lock. Those that never come back are above the others; they stand out, or without
// them those that take longer than others.
func drawRecovery(c *Chart, lang string) frame {
	seconds := func(r record, name string) float64 { return r.number(name) / float64(time.Second) }
	all := lists.Pick(c.Table.records(), func(r record) bool { return r.number("blocked_mean_ns") >= 0 })
	blocked := func(r record) float64 { return seconds(r, "blocked_mean_ns") }
	longest := lists.Each(by("lock", all), longestOf)
	slow := slices.Max(append(longest, 0))
	top, last, ttl := 0.0, 0.0, 1.0
	for _, r := range all {
		last, ttl = max(last, seconds(r, "work_ns")), seconds(r, "ttl_ns")
		if y := blocked(r); !math.IsInf(y, 1) {
			top = max(top, y)
		}
	}
	p := axes(say(lang, "recovery.axis.work"), say(lang, "recovery.axis"))
	beyond := ttl/4*math.Ceil(4*top/ttl) + ttl/4
	labels := c.lockLines(p, lang, all, "blocked_mean_ns", func(of []record) curve {
		return curve{points: lists.Each(of, func(r record) point {
			return point{x: seconds(r, "work_ns"), y: min(blocked(r), beyond)}
		}), stands: longestOf(of) == slow && slices.Min(longest) < slow}
	})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, max(last, ttl), 0, beyond
	var ticks plot.ConstantTicks
	for y := 0.0; y < beyond; y += ttl / 4 {
		ticks = append(ticks, plot.Tick{Value: y, Label: decimal(y)})
	}
	if math.IsInf(slow, 1) {
		ticks = append(ticks, plot.Tick{Value: beyond, Label: "∞"})
		p.Add(axisBreak(beyond - ttl/8))
	}
	quarter := p.X.Max / 4
	p.X.Tick.Marker = labelled([]float64{0, quarter, 2 * quarter, 3 * quarter, p.X.Max}, decimal)
	p.Y.Tick.Marker = ticks
	return c.curves(say(lang, "recovery.below", "ttl", length(time.Duration(ttl*float64(time.Second)))), p, labels)
}
