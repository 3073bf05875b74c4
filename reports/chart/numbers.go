package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/scenarios/cost"
)

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
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(out, none) {
			out = out[:len(out)-2]
		}
	}
	return out
}

// number writes three digits that count.
func number(x float64) string {
	switch {
	case x < 0:
		return "-" + number(-x)
	case math.IsInf(x, 1):
		return "∞"
	case x == 0:
		return "0"
	case x >= 100 && x < 1e9:
		return thousands(int(math.Round(x)))
	case x >= 1e9 || x < 0.0001:
		return strconv.FormatFloat(x, 'e', 1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// nanoseconds writes a duration with three digits that count, and ∞.
func nanoseconds(ns float64) string {
	if ns >= float64(cost.Forever) {
		return length(cost.Forever)
	}
	d := time.Duration(ns)
	if d >= time.Second {
		return length(d.Round(10 * time.Millisecond))
	}
	unit := time.Duration(1)
	for ; d/unit >= 1000; unit *= 10 {
	}
	return d.Round(unit).String()
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

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

// ceilTo rounds up to a multiple of unit: a bound must not be rounded down.
func ceilTo(x, unit float64) float64 { return math.Ceil(x/unit-1e-9) * unit }

// rounded writes a number with so many places.
func rounded(x float64, places int) string { return strconv.FormatFloat(x, 'f', places, 64) }

// extremes are the first of the smallest and the first of the largest.
func extremes[T any](all []T, by func(T) float64) (low, high T) {
	compare := func(a, b T) int { return cmp.Compare(by(a), by(b)) }
	return slices.MinFunc(all, compare), slices.MaxFunc(all, compare)
}
