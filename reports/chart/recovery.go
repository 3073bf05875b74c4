package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A RecoveryChart draws the time from a crash to the next entry, by lock and TTL, beside
// the handover without a crash.
type RecoveryChart struct{ Recoveries []cost.Recovery }

// Name is that of Result, and so are the next ones.
func (c *RecoveryChart) Name() string { return "recovery" }

// Assumptions say what the client does, and when it crashes.
func (c *RecoveryChart) Assumptions(lang string) string {
	return say(lang, "recovery.assumptions", "hold", c.hold(lang), "retry", length(cost.PriceSettings().Retry))
}

// hold is the time for which the client works.
func (c *RecoveryChart) hold(lang string) string {
	for _, r := range c.Recoveries {
		if r.Hold != study.UsualWork(r.TTL) {
			return length(r.Hold)
		}
	}
	return say(lang, "work.usual")
}

// Table has one row for each lock and TTL.
func (c *RecoveryChart) Table() *Table {
	names := "lock ttl_s:s hold_s:s handover_mean_s:s handover_longest_s:s blocked_mean_s:s blocked_p50_s:s " +
		"blocked_p90_s:s blocked_p99_s:s blocked_longest_s:s share_forever"
	return tableOf(names, c.Recoveries, func(r cost.Recovery) []any {
		return []any{r.Lock, r.TTL, r.Hold, r.Handover, r.LongestHandover, r.Mean(),
			r.Quantile(0.5), r.Quantile(0.9), r.Quantile(0.99), r.Longest(), r.Ever()}
	})
}

// Finding says for which part of the TTL a crash blocks the lock, and where for ever. Locks that come back at most
// moments are in neither.
func (c *RecoveryChart) Finding(lang string) string {
	var never []string
	least, most := math.Inf(1), 0.0
	for _, of := range by("lock", c.Table().records()) {
		switch ever := of[len(of)-1].number("share_forever"); {
		case ever > 0.5:
			never = append(never, of[0].text("lock"))
		case ever == 0:
			for _, r := range of {
				part := r.number("blocked_p50_s") / r.number("ttl_s")
				least, most = min(least, part), max(most, part)
			}
		}
	}
	key := "recovery.finding"
	switch {
	case least > most:
		return say(lang, "recovery.none")
	case never != nil:
		key = "recovery.finding.never"
	}
	return say(lang, key, "least", rounded(least, 2), "most", rounded(most, 2), "locks",
		text.Join(lang, "chart.list", never))
}

// Notes implements Result.
func (c *RecoveryChart) Notes(lang string) []string {
	return []string{say(lang, "recovery.note")}
}

// viewRecovery has all but the work, which the assumptions have, and the longest handover. Where hardly any blockage
// ends, the longest does not.
func viewRecovery(c *Chart, _ string) *Table {
	t := c.Table.only(func(name string) bool { return name != "hold_s" && name != "handover_longest_s" })
	longest := slices.Index(t.names(), "blocked_longest_s")
	for i, r := range t.records() {
		if r.number("share_forever") > 0.5 {
			t.Rows[i][longest] = "inf"
		}
	}
	return t
}

// mostRecoveries is the number of locks and TTLs of which each has a line of its own; of more, the shortest and the
// longest TTL of each lock have.
const mostRecoveries = 14

// drawRecovery has a line for each lock and TTL, in parts of the TTL: from the median to the longest time that ends.
// Those that never come back stand out.
func drawRecovery(c *Chart, lang string) frame {
	all := c.Table.records()
	if len(all) > mostRecoveries {
		var shown []record
		for _, of := range by("lock", all) {
			shown = append(shown, of[0])
			if len(of) > 1 {
				shown = append(shown, of[len(of)-1])
			}
		}
		all = shown
	}
	p := rowed("", lists.Each(all, func(r record) string {
		return r.text("lock") + "  " + say(lang, "term.ttl.name") + " " + r.text("ttl_s") + " s"
	}), true)
	p.X.Min, p.X.Max, p.X.Label.Text = 0, 1, say(lang, "recovery.axis")
	var marks spans
	for i, r := range all {
		ttl := r.number("ttl_s")
		median, longest, handover := r.number("blocked_p50_s"), r.number("blocked_longest_s"), r.number("handover_mean_s")
		s := span{y: -float64(i), from: median / ttl, to: longest / ttl, color: grey, width: 5}
		if ever := r.number("share_forever"); ever > 0.5 {
			s = span{y: s.y, to: 1, color: standout, width: 2, arrow: true, words: say(lang, "part.ever"), bold: true}
		} else {
			s.words = say(lang, "recovery.words", "median", rounded(median, 1), "longest", rounded(longest, 1))
			if ever > 0 {
				s.words += say(lang, "recovery.words.ever", "share", portion(ever))
			}
		}
		p.X.Max = max(p.X.Max, math.Ceil(4*max(s.to, handover/ttl)-0.02)/4)
		ring := span{y: s.y, to: handover / ttl, color: ink, shape: draw.RingGlyph{}}
		marks = append(marks, s, ring)
	}
	var quarters []float64
	for share := 0.0; share <= p.X.Max; share += 0.25 {
		quarters = append(quarters, share)
	}
	p.X.Tick.Marker = labelled(quarters, decimal)
	p.Add(marks)
	return frame{below: []string{say(lang, "recovery.below")}, body: panels(1, p),
		least: vg.Point{X: 400, Y: 40 + 13*vg.Length(len(all))}}
}
