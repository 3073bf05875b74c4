package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"locklab/reports/text"
	"slices"
	"strconv"
)

// A Sensitivity is a dose-response chart: the share of seeded runs with an overlap,
// against the length of a pause in TTLs, for each strategy.
type Sensitivity struct {
	Series []Series
	Runs   int // seeded runs a point
}

// Title is what the chart shows.
func (s *Sensitivity) Title(lang string) string { return say(lang, "sensitivity.title") }

// Assumptions are those under which the shares are what they are.
func (s *Sensitivity) Assumptions(lang string) string {
	return say(lang, "sensitivity.assumptions", "runs", thousands(s.Runs))
}

// A Series is one strategy's points, by increasing X.
type Series struct {
	Strategy string
	Points   []Point
}

// A Point says that K of N runs at X showed the harm.
type Point struct {
	X    float64
	K, N int
}

// share is K of N, 0 without runs.
func (p Point) share() float64 {
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
			lo, hi := Wilson(p.K, p.N)
			records = append(records, []string{one.Strategy, decimal(p.X), strconv.Itoa(p.K), strconv.Itoa(p.N),
				fixed(p.share()), fixed(lo), fixed(hi)})
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing a sensitivity chart: %w", err)
	}
	return nil
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func fixed(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// Takeaway says what the chart shows: from which size of the fault each lock
// falls, how often at most, and what bound holds for those that never fell.
// Strategies whose intervals overlap are not ranked.
func (s *Sensitivity) Takeaway(lang string) string {
	var never, fell []string
	for _, one := range s.Series {
		at, ok := one.onset()
		if !ok {
			never = append(never, say(lang, "sensitivity.zero", "lock", one.Strategy, "bound", one.zero()))
			continue
		}
		fell = append(fell, say(lang, "sensitivity.from", "lock", one.Strategy, "x", decimal(at.X), "top", one.top()))
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
func (s *Series) onset() (Point, bool) {
	for _, p := range s.Points {
		if p.K > 0 {
			return p, true
		}
	}
	return Point{}, false
}

// top is the largest share with its interval: "52 % (49-55)".
func (s *Series) top() string {
	p := slices.MaxFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.share(), b.share()) })
	lo, hi := Wilson(p.K, p.N)
	return fmt.Sprintf("%s %% (%s-%s)", percent(p.share()), percent(lo), percent(hi))
}

// zero is the bound that the largest point of a series without a hit gives:
// "0/1,000 -> < 0.4 %".
func (s *Series) zero() string {
	runs := 0
	for _, p := range s.Points {
		runs = max(runs, p.N)
	}
	_, hi := Wilson(0, runs)
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

// thousands writes 1000 as 1,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
