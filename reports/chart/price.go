package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// A PriceChart draws what locks cost against the share of races that they survive.
type PriceChart struct {
	Prices []cost.Price
	Lang   string // of the pictures
}

// Title is what the chart asks.
func (c *PriceChart) Title(lang string) string { return say(lang, "price.title") }

// Assumptions say how the locks were counted.
func (c *PriceChart) Assumptions(lang string) string {
	s := cost.PriceSettings()
	return say(lang, "price.assumptions", "ttl", length(s.TTL), "retry", length(s.Retry))
}

// A spot are locks at the same place of the chart.
type spot struct {
	cost, share float64
	prices      []cost.Price
	efficient   bool // no other lock costs no more and survives as much
}

// spots are the places of all locks by a cost, from the cheapest and then the safest on.
func (c *PriceChart) spots(axis func(cost.Price) float64) (spots []*spot) {
	for _, p := range c.Prices {
		if !p.Excludes {
			continue
		}
		i := slices.IndexFunc(spots, func(s *spot) bool { return s.cost == axis(p) && s.share == p.Share() })
		if i < 0 {
			i = len(spots)
			spots = append(spots, &spot{cost: axis(p), share: p.Share()})
		}
		spots[i].prices = append(spots[i].prices, p)
	}
	for _, s := range spots { // the best-known first
		slices.SortStableFunc(s.prices, func(a, b cost.Price) int { return cmp.Compare(fame(a.Strategy), fame(b.Strategy)) })
	}
	slices.SortFunc(spots, func(a, b *spot) int { return cmp.Or(cmp.Compare(a.cost, b.cost), -cmp.Compare(a.share, b.share)) })
	best := -1.0
	for _, s := range spots {
		s.efficient = s.share > best
		best = max(best, s.share)
	}
	return spots
}

// fame is 0 for a milestone, and 1 for another lock.
func fame(id string) int {
	if slices.ContainsFunc(algorithms.Milestones(), func(e lock.Entry) bool { return e.ID == id }) {
		return 0
	}
	return 1
}

func byCommands(p cost.Price) float64   { return p.Commands }
func byRoundTrips(p cost.Price) float64 { return p.RoundTrips }

// names lists the locks of a spot, n at most.
func (s *spot) names(lang string, n int) string {
	var ids []string
	for _, p := range s.prices[:min(n, len(s.prices))] {
		ids = append(ids, p.Strategy)
	}
	out := text.Join(lang, "chart.list", ids)
	if more := len(s.prices) - n; more > 0 {
		out = say(lang, "price.more", "names", out, "n", strconv.Itoa(more))
	}
	return out
}

// Takeaway names the efficient locks: those that no other lock beats in both.
func (c *PriceChart) Takeaway(lang string) string {
	var parts []string
	for _, s := range c.spots(byCommands) {
		if s.efficient {
			p := s.prices[0]
			parts = append(parts, say(lang, "price.step", "commands", decimal(s.cost), "locks", s.names(lang, 3), "share", percent(s.share),
				"survived", strconv.Itoa(p.Survived), "races", strconv.Itoa(p.Races)))
		}
	}
	return say(lang, "price.takeaway", "steps", text.Join(lang, "grid.join", parts))
}

// efficient are the locks on the border of either chart.
func (c *PriceChart) efficient() map[string]bool {
	out := map[string]bool{}
	for _, spots := range [][]*spot{c.spots(byCommands), c.spots(byRoundTrips)} {
		for _, s := range spots {
			for _, p := range s.prices {
				out[p.Strategy] = out[p.Strategy] || s.efficient
			}
		}
	}
	return out
}

// Text writes one lock per line.
func (c *PriceChart) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(c.Title(lang), 0)
		out.Put(c.Assumptions(lang), 0)
	}
	out.Put("", 0)
	lang := out.Lang()
	sheet := layout.Sheet{Right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true}, Floor: 7}
	var head []string
	for _, key := range []string{"lock", "family", "commands", "roundtrips", "contended", "handover", "survived", "share"} {
		head = append(head, say(lang, "price.head."+key))
	}
	sheet.Rows = [][]string{append(head, "")}
	border := c.efficient()
	for _, p := range c.Prices {
		mark := ""
		switch {
		case !p.Excludes:
			mark = "-"
		case border[p.Strategy]:
			mark = "<"
		}
		sheet.Rows = append(sheet.Rows, []string{p.Strategy, string(p.Family), decimal(p.Commands), strconv.FormatFloat(p.RoundTrips, 'f', 0, 64),
			strconv.FormatFloat(p.Contended, 'f', 1, 64), length(p.Handover), fmt.Sprintf("%d/%d", p.Survived, p.Races), percent(p.Share()) + " %", mark})
	}
	sheet.WriteOrList(out, 1)
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(c.Takeaway(lang), 0)
		out.Put(say(lang, "price.mark"), 0)
	}
	return out.Err()
}

// CSV writes one line for each lock.
func (c *PriceChart) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "family", "commands", "round_trips", "commands_contended", "handover_mean_s", "handover_longest_s", "races_survived", "races"}}
	for _, p := range c.Prices {
		records = append(records, []string{p.Strategy, string(p.Family), decimal(p.Commands), significant(p.RoundTrips), significant(p.Contended),
			significant(p.Handover.Seconds()), significant(p.LongestHandover.Seconds()), strconv.Itoa(p.Survived), strconv.Itoa(p.Races)})
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing prices: %w", err)
	}
	return nil
}

// families are those of the locks, in the order of the list.
func (c *PriceChart) families() (all []string) {
	for _, p := range c.Prices {
		if f := string(p.Family); p.Excludes && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}
