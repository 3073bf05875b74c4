package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// A RecoveryChart draws for how long nobody gets in after a crash, by lock and TTL, beside
// the handover where nobody crashes.
type RecoveryChart struct {
	Recoveries []cost.Recovery
	Lang       string // of the pictures
}

// Title is what the chart asks.
func (c *RecoveryChart) Title(lang string) string { return say(lang, "recovery.title") }

// Assumptions say what the client does, and when it crashes.
func (c *RecoveryChart) Assumptions(lang string) string {
	hold := say(lang, "recovery.hold.half")
	for _, r := range c.Recoveries {
		if r.Hold != r.TTL/2 {
			hold = length(r.Hold)
		}
	}
	return say(lang, "recovery.assumptions", "hold", hold, "retry", length(cost.PriceSettings().Retry))
}

// blocked writes a blocked time.
func blocked(lang string, d time.Duration) string {
	switch {
	case d == cost.Forever:
		return say(lang, "recovery.ever")
	case d >= 100*time.Millisecond:
		return length(d.Round(10 * time.Millisecond))
	}
	return d.Round(100 * time.Microsecond).String()
}

// longestOf is the longest that ends; cost.Forever if hardly any does.
func longestOf(r cost.Recovery) time.Duration {
	if r.Ever() > 0.5 {
		return cost.Forever
	}
	return r.Longest()
}

// portion writes a small share with two digits.
func portion(p float64) string {
	switch {
	case p == 0:
		return "0 %"
	case p < 0.1:
		return strconv.FormatFloat(100*p, 'g', 2, 64) + " %"
	}
	return percent(p) + " %"
}

// Text writes one lock with one TTL per line.
func (c *RecoveryChart) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(c.Title(lang), 0)
		out.Put(c.Assumptions(lang), 0)
	}
	out.Put("", 0)
	lang := out.Lang()
	sheet := layout.Sheet{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}, Floor: 6}
	var head []string
	for _, key := range []string{"lock", "ttl", "handover", "mean", "p50", "p90", "p99", "longest", "ever"} {
		head = append(head, say(lang, "recovery.head."+key))
	}
	sheet.Rows = [][]string{head}
	for _, r := range c.Recoveries {
		sheet.Rows = append(sheet.Rows, []string{r.Strategy, length(r.TTL), blocked(lang, r.Handover), blocked(lang, r.Mean()),
			blocked(lang, r.Quantile(0.5)), blocked(lang, r.Quantile(0.9)), blocked(lang, r.Quantile(0.99)), blocked(lang, longestOf(r)), portion(r.Ever())})
	}
	sheet.WriteOrList(out, 1)
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(c.Takeaway(lang), 0)
		out.Put(say(lang, "recovery.note"), 0)
	}
	return out.Err()
}

// CSV writes one line for each lock and TTL.
func (c *RecoveryChart) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "ttl_s", "hold_s", "handover_mean_s", "handover_longest_s", "blocked_mean_s", "blocked_p50_s", "blocked_p90_s", "blocked_p99_s", "blocked_longest_s", "share_forever"}}
	s := func(d time.Duration) string {
		if d == cost.Forever {
			return "inf"
		}
		return significant(d.Seconds())
	}
	for _, r := range c.Recoveries {
		records = append(records, []string{r.Strategy, s(r.TTL), s(r.Hold), s(r.Handover), s(r.LongestHandover), s(r.Mean()),
			s(r.Quantile(0.5)), s(r.Quantile(0.9)), s(r.Quantile(0.99)), s(r.Longest()), significant(r.Ever())})
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing recoveries: %w", err)
	}
	return nil
}

// strategies are the locks, in their order.
func (c *RecoveryChart) strategies() (ids []string) {
	for _, r := range c.Recoveries {
		if !slices.Contains(ids, r.Strategy) {
			ids = append(ids, r.Strategy)
		}
	}
	return ids
}

// of are the recoveries of one lock, by TTL.
func (c *RecoveryChart) of(id string) (all []cost.Recovery) {
	for _, r := range c.Recoveries {
		if r.Strategy == id {
			all = append(all, r)
		}
	}
	return all
}

// Takeaway says which locks may never come back, and what the others take in leases.
func (c *RecoveryChart) Takeaway(lang string) string {
	var never, sometimes, back []string
	least, most := math.Inf(1), 0.0
	for _, id := range c.strategies() {
		all := c.of(id)
		last := all[len(all)-1]
		switch {
		case last.Ever() > 0.5:
			never = append(never, id)
			continue
		case last.Ever() > 0:
			sometimes = append(sometimes, say(lang, "recovery.sometimes.one", "lock", id, "share", portion(last.Ever()), "ttl", length(last.TTL)))
			continue
		}
		back = append(back, id)
		for _, r := range all {
			least, most = min(least, r.Mean().Seconds()/r.TTL.Seconds()), max(most, r.Mean().Seconds()/r.TTL.Seconds())
		}
	}
	var parts []string
	if len(never) > 0 {
		parts = append(parts, say(lang, "recovery.never", "locks", text.Join(lang, "chart.list", never)))
	}
	if len(sometimes) > 0 {
		parts = append(parts, say(lang, "recovery.sometimes", "locks", text.Join(lang, "chart.list", sometimes)))
	}
	if len(back) > 0 {
		parts = append(parts, say(lang, "recovery.back", "locks", text.Join(lang, "chart.list", back),
			"least", strconv.FormatFloat(least, 'f', 2, 64), "most", strconv.FormatFloat(most, 'f', 2, 64)))
	}
	return text.Join(lang, "grid.both", parts)
}
