package chart

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"locklab/scenarios/cost"
	"locklab/scenarios/study"
)

// length writes a duration in one unit, with a blank before it, as all numbers have it.
func length(d time.Duration) string {
	unit := 1 // of seconds
	switch {
	case d >= cost.Forever:
		return "∞"
	case d < 0:
		return "-" + length(-d)
	case d >= time.Minute && d%time.Minute == 0:
		return decimal(d.Minutes()) + " min"
	case d >= time.Second || d == 0:
		d = d.Round(time.Millisecond)
	default:
		for unit = 1000; d < time.Second/time.Duration(unit); unit *= 1000 {
		}
	}
	return decimal(d.Seconds()*float64(unit)) + " " + map[int]string{1: "s", 1e3: "ms", 1e6: "µs", 1e9: "ns"}[unit]
}

// spaced writes values of an axis with a blank before their unit.
func spaced(axis study.Axis) func(v float64) string {
	return func(v float64) string {
		if axis.Unit() == "s" {
			return length(time.Duration(math.Round(v*1e6)) * time.Microsecond)
		}
		return withoutBlank.ReplaceAllString(axis.Format(v), "$1 $2")
	}
}

var withoutBlank = regexp.MustCompile(`(\d)([%a-zµ])`)

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
	d, unit := time.Duration(ns), time.Duration(1)
	for ; d/unit >= 1000; unit *= 10 {
	}
	return length(d.Round(unit))
}

func decimal(x float64) string { return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64) }

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
