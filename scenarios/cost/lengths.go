package cost

import (
	"math"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/i18n"
)

// Lengths are the lengths of a fault or of a hold. They may be known less well than a distribution:
// of two percentiles only the share between them.
type Lengths struct {
	atoms []atom
	name  string // as it was given
}

// An atom is a share that lies between two lengths, at most the upper one. Its upper end
// may be Forever.
type atom struct {
	share  float64
	lo, hi time.Duration
}

// Forever is longer than any length: of a fault that does not end, or of a lock that does not
// come back by itself.
const Forever = time.Duration(math.MaxInt64)

// Always is one length.
func Always(d time.Duration) Lengths {
	return Lengths{atoms: []atom{{1, d, d}}, name: d.String()}
}

// String returns the lengths as they were given.
func (l Lengths) String() string { return l.name }

// Bounded reports whether there is a longest length.
func (l Lengths) Bounded() bool {
	return len(l.atoms) > 0 && l.atoms[len(l.atoms)-1].hi < Forever
}

// Longest is the longest length there may be.
func (l Lengths) Longest() time.Duration { return l.atoms[len(l.atoms)-1].hi }

// Mean is the expected value of a function that grows with the length. f gets Forever
// too.
func (l Lengths) Mean(f func(d time.Duration) float64) Interval {
	low, high, shares := make([]float64, len(l.atoms)), make([]float64, len(l.atoms)), make([]float64, len(l.atoms))
	for i, a := range l.atoms {
		low[i], high[i], shares[i] = f(a.lo), f(a.hi), a.share
	}
	return Interval{mean(low, shares), mean(high, shares)}
}

// LongerThan is the share of lengths above d.
func (l Lengths) LongerThan(d time.Duration) Interval {
	return l.Mean(func(x time.Duration) float64 {
		if x > d {
			return 1
		}
		return 0
	})
}

// ParseLengths reads one length, such as 30s, or percentiles, such as
// p50=50ms,p99=300ms. What lies above the last percentile has no bound unless it is p100.
func ParseLengths(s string) (Lengths, error) {
	if !strings.Contains(s, "=") {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return Lengths{}, i18n.Errorf("error.rate.length", "value", s)
		}
		l := Always(d)
		l.name = s
		return l, nil
	}
	out := Lengths{name: s}
	below, from := 0.0, time.Duration(0)
	for _, item := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		d, bad := time.ParseDuration(value)
		switch {
		case err != nil || !strings.HasPrefix(name, "p") || !(p > 0 && p <= 100) || bad != nil || d <= 0:
			return Lengths{}, i18n.Errorf("error.rate.percentile", "value", item)
		case p <= below || d < from:
			return Lengths{}, i18n.Errorf("error.rate.percentile.order", "value", item)
		}
		out.atoms = append(out.atoms, atom{(p - below) / 100, from, d})
		below, from = p, d
	}
	if below < 100 {
		out.atoms = append(out.atoms, atom{(100 - below) / 100, from, Forever})
	}
	return out, nil
}
