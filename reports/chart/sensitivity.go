package chart

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// A Sensitivity draws the share of seeded runs with an overlap against the length of a
// pause in leases, for each lock.
type Sensitivity struct {
	study.Sensitivity
	Lang string // of the picture; "": English
}

// Title says what the chart shows: from which length of a pause on two clients were inside.
func (s *Sensitivity) Title(lang string) string {
	type group struct {
		x     float64
		locks []string
	}
	var groups []group
	for _, one := range s.Series {
		at, ok := onset(one)
		if !ok {
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.x == at.X })
		if i < 0 {
			i, groups = len(groups), append(groups, group{x: at.X})
		}
		groups[i].locks = append(groups[i].locks, one.Strategy)
	}
	if groups == nil {
		return say(lang, "sensitivity.finding.none")
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.x, b.x) })
	title := say(lang, "sensitivity.finding", "x", decimal(groups[0].x))
	for _, g := range groups[1:] {
		title = say(lang, "sensitivity.finding.later", "first", title, "x", decimal(g.x), "locks", text.Join(lang, "chart.list", g.locks))
	}
	return title
}

// alike are the places of series that cannot be told apart: their intervals overlap at every
// point.
func (s *Sensitivity) alike() (groups [][]int) {
	for i := range s.Series {
		n := slices.IndexFunc(groups, func(g []int) bool { return overlapping(s.Series[g[0]], s.Series[i]) })
		if n < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[n] = append(groups[n], i)
		}
	}
	return groups
}

func overlapping(a, b study.Series) bool {
	if len(a.Points) != len(b.Points) {
		return false
	}
	for i := range a.Points {
		lo, hi := study.Wilson(a.Points[i].K, a.Points[i].N)
		lo2, hi2 := study.Wilson(b.Points[i].K, b.Points[i].N)
		if hi < lo2 || hi2 < lo {
			return false
		}
	}
	return true
}

// endless says whether a lock has no time to live: no pause can outlast it.
func endless(id string) bool {
	return slices.ContainsFunc(algorithms.All(), func(e lock.Entry) bool { return e.ID == id && e.Expiry == lock.ExpiryNone })
}

// summary is what a curve comes to.
func summary(lang string, one study.Series) string {
	at, ok := onset(one)
	switch {
	case ok:
		return say(lang, "sensitivity.summary", "x", decimal(at.X), "top", topShare(one))
	case endless(one.Strategy):
		return say(lang, "sensitivity.endless", "bound", zeroBound(one))
	}
	return zeroBound(one)
}

// Assumptions are those under which the shares are what they are.
func (s *Sensitivity) Assumptions(lang string) string {
	return say(lang, "sensitivity.assumptions", "runs", thousands(s.Runs))
}

// share is K of N, 0 without runs.
func share(p study.Point) float64 {
	if p.N == 0 {
		return 0
	}
	return float64(p.K) / float64(p.N)
}

// CSV writes one line a point, with its Wilson interval.
func (s *Sensitivity) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "x", "k", "n", "share", "wilson_lo", "wilson_hi"}}
	for _, one := range s.Series {
		for _, p := range one.Points {
			lo, hi := study.Wilson(p.K, p.N)
			records = append(records, []string{one.Strategy, decimal(p.X), strconv.Itoa(p.K), strconv.Itoa(p.N),
				fixed(share(p)), fixed(lo), fixed(hi)})
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing a sensitivity chart: %w", err)
	}
	return nil
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func fixed(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// Text writes a length of pause per line and a lock per column. Lines of many locks are
// wider than the options say.
func (s *Sensitivity) Text(w io.Writer, o reports.Options) error {
	wide := o
	wide.Width = 0
	out, table := o.Lines(w), wide.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(s.Title(lang), 0)
		out.Put(s.Assumptions(lang), 0)
	}
	out.Put("", 0)
	head := fmt.Sprintf("%10s", "pause/TTL")
	for _, one := range s.Series {
		head += fmt.Sprintf("  %12s", one.Strategy)
	}
	table.Put(head, 0)
	if len(s.Series) > 0 {
		for i, p := range s.Series[0].Points {
			row := fmt.Sprintf("%10s", decimal(p.X))
			for _, one := range s.Series {
				row += fmt.Sprintf("  %12s", fmt.Sprintf("%d/%d", one.Points[i].K, one.Points[i].N))
			}
			table.Put(row, 0)
		}
	}
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(s.Takeaway(lang), 0)
	}
	return errors.Join(table.Err(), out.Err())
}

// Takeaway says what the chart shows: from which size of the fault each lock
// falls, how often at most, and what bound holds for those that never fell.
// Strategies whose intervals overlap are not ranked.
func (s *Sensitivity) Takeaway(lang string) string {
	var never, fell []string
	for _, one := range s.Series {
		at, ok := onset(one)
		if !ok {
			key := "sensitivity.zero"
			if endless(one.Strategy) {
				key = "sensitivity.zero.endless"
			}
			never = append(never, say(lang, key, "lock", one.Strategy, "bound", zeroBound(one)))
			continue
		}
		fell = append(fell, say(lang, "sensitivity.from", "lock", one.Strategy, "x", decimal(at.X), "top", topShare(one)))
	}
	var parts []string
	if len(fell) > 0 {
		parts = append(parts, say(lang, "sensitivity.seen", "text", text.Join(lang, "grid.join", fell)))
	}
	if len(never) > 0 {
		parts = append(parts, say(lang, "sensitivity.never", "text", text.Join(lang, "grid.join", never)))
	}
	return text.Join(lang, "grid.both", parts)
}

// onset is the first point at which the harm was seen.
func onset(s study.Series) (study.Point, bool) {
	for _, p := range s.Points {
		if p.K > 0 {
			return p, true
		}
	}
	return study.Point{}, false
}

// topShare is the largest share with its interval: "52 % (49-55)".
func topShare(s study.Series) string {
	p := slices.MaxFunc(s.Points, func(a, b study.Point) int { return cmp.Compare(share(a), share(b)) })
	lo, hi := study.Wilson(p.K, p.N)
	return fmt.Sprintf("%s %% (%s-%s)", percent(share(p)), percent(lo), percent(hi))
}

// zeroBound is the bound that the largest point of a series without a hit gives:
// "0/1,000 -> < 0.4 %".
func zeroBound(s study.Series) string {
	runs := 0
	for _, p := range s.Points {
		runs = max(runs, p.N)
	}
	_, hi := study.Wilson(0, runs)
	return "0/" + thousands(runs) + " -> " + bound(hi)
}

// bound writes a share that was never seen as the upper bound that it is.
func bound(hi float64) string { return fmt.Sprintf("< %.1f %%", 100*ceilTo(hi, 0.001)) }

func percent(share float64) string {
	p := 100 * share
	if p < 10 && p > 0 {
		return strconv.FormatFloat(p, 'f', 1, 64)
	}
	return strconv.FormatFloat(p, 'f', 0, 64)
}

// ceilTo rounds up to a multiple of unit: a bound must not be rounded down.
func ceilTo(x, unit float64) float64 { return math.Ceil(x/unit-1e-9) * unit }

// thousands writes 1000 as 1,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
