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

// An Environment has the frequencies and the lengths of faults. Its texts
// stand in the catalogues: environment.<ID>.what and .source.
type Environment struct {
	ID      string
	Quality Quality
	Causes  []Cause // empty: a figure to know, from which no rate follows
}

// A Quality says how sure a figure is.
type Quality string

// The qualities of figures. Given is what a user has given.
const (
	Typical  Quality = "typical"
	Bound    Quality = "bound"
	Anecdote Quality = "anecdote"
	Given    Quality = "given"
)

// A Cause is one kind of fault in an environment.
type Cause struct {
	Fault   string  // name as in package faults
	PerYear float64 // of each machine, or of each server; of lost replies: the share of all
	// Assumed: the source gives the length of such faults, but not their number, so that PerYear
	// is 1.
	Assumed bool
	Lengths Lengths // of a pause or the jump of a clock
	// Window is the age up to which a server loses its writes when a replica takes its place or
	// when it restarts; 0: it loses none.
	Window time.Duration
}

// Environments are those whose figures were found in a source.
func Environments() []Environment {
	pause := func(perYear float64, lengths string) []Cause {
		l, err := ParseLengths(lengths)
		if err != nil {
			panic(err) // a mistake in this list
		}
		c := Cause{Fault: "pause", PerYear: perYear, Lengths: l}
		if c.Assumed = perYear == 0; c.Assumed {
			c.PerYear = 1
		}
		return []Cause{c}
	}
	return []Environment{
		{"azure", Bound, pause(12.0/18, "30s")},
		{"azure-migration", Typical, pause(0, "5s")},
		{"google", Typical, pause(12, "p50=50ms,p99=300ms")},
		{"jvm-log", Anecdote, pause(0, "5s")},
		{"cfs", Bound, pause(0, "100ms")},
		{"github-2018", Anecdote, nil},
		{"github-2012", Anecdote, nil},
		{"chubby", Typical, nil},
		{"ntp", Typical, nil},
		{"sentinel", Bound, nil},
		{"cluster", Bound, nil},
	}
}

// causes are the faults that have a rate, each with what stands behind it.
var causes = []string{"pause", "client-clock", "node-clock", "failover", "restart", "lose-reply", "crash"}

// parseCause reads what is written after the name of a fault, such as
// "1/18months 30s".
func parseCause(fault, value string) (Cause, error) {
	c := Cause{Fault: fault}
	often, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	rest = strings.TrimSpace(rest)
	var err error
	if fault == "lose-reply" {
		c.PerYear, err = strconv.ParseFloat(often, 64)
		if err != nil || !(c.PerYear >= 0 && c.PerYear <= 1) || rest != "" {
			return c, i18n.Errorf("error.rate.share", "value", value)
		}
		return c, nil
	}
	if c.PerYear, err = parseOften(often); err != nil {
		return c, err
	}
	switch fault {
	case "pause", "client-clock", "node-clock":
		if rest == "" {
			return c, i18n.Errorf("error.rate.lengths", "fault", fault, "value", value)
		}
		c.Lengths, err = ParseLengths(rest)
	case "failover":
		c.Window, err = parseWindow("lag", rest, 0)
	case "restart":
		c.Window, err = parseWindow("loses", rest, Forever)
	case "crash":
		if rest != "" {
			err = i18n.Errorf("error.rate.crash", "value", value)
		}
	default:
		err = i18n.Errorf("error.rate.fault", "name", fault, "near", i18n.Near(fault, causes), "names", strings.Join(causes, ", "))
	}
	return c, err
}

// parseWindow reads name=LENGTH, or returns usual if nothing is given and it is not 0.
func parseWindow(name, value string, usual time.Duration) (time.Duration, error) {
	if value == "" && usual > 0 {
		return usual, nil
	}
	length, ok := strings.CutPrefix(value, name+"=")
	d, err := time.ParseDuration(length)
	if !ok || err != nil || d < 0 {
		return 0, i18n.Errorf("error.rate.window", "name", name, "value", value)
	}
	return d, nil
}

// units are the times in which faults are counted, in years.
var units = map[string]float64{
	"year": 1, "month": 1.0 / 12, "week": 7 / daysAYear, "day": 1 / daysAYear, "hour": 1 / daysAYear / 24,
}

const (
	daysAYear    = 365.0
	secondsAYear = daysAYear * 24 * 3600
)

// parseOften reads how often something happens, such as 12/year or 1/18months, as a
// number a year.
func parseOften(s string) (float64, error) {
	count, per, ok := strings.Cut(s, "/")
	n, err := strconv.ParseFloat(count, 64)
	digits := strings.TrimLeft(per, "0123456789.")
	many := 1.0
	if number := per[:len(per)-len(digits)]; number != "" {
		var bad error
		if many, bad = strconv.ParseFloat(number, 64); bad != nil || many <= 0 {
			ok = false
		}
	}
	unit, known := units[strings.TrimSuffix(digits, "s")]
	if !ok || err != nil || !known || !(n >= 0 && n <= 1e12) {
		return 0, i18n.Errorf("error.rate.often", "value", s)
	}
	return n / (many * unit), nil
}
