package cost

import (
	"bufio"
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"locklab/scenarios/study"
	"locklab/simulator/i18n"
)

// Lengths are the lengths of a fault or of a hold. They may be known less well than a distribution:
// of two percentiles only the share between them.
type Lengths struct {
	atoms   []atom
	samples int    // of a file; 0: not from samples
	name    string // as it was given
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
	return Interval{stat.Mean(low, shares), stat.Mean(high, shares)}
}

// LongerThan is the share of lengths above d. Of samples it is the Wilson interval.
func (l Lengths) LongerThan(d time.Duration) Interval {
	longer := l.Mean(func(x time.Duration) float64 {
		if x > d {
			return 1
		}
		return 0
	})
	return l.sampled(longer)
}

// sampled widens a share, or a mean of shares, by what the samples leave open.
func (l Lengths) sampled(share Interval) Interval {
	if l.samples == 0 {
		return share
	}
	lo, _ := study.WilsonShare(share.Lo, l.samples)
	_, hi := study.WilsonShare(share.Hi, l.samples)
	return Interval{lo, hi}
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

// mostAtoms is the largest number of groups into which the lengths of a file are put. The ends of a
// group bound the result.
const mostAtoms = 500

// ReadLengths reads the lengths in a file: one in each line, such as 12ms, or the pauses
// in a log of the JVM's garbage collector. Empty lines and those that begin with # are
// skipped; of a log, all lines without a pause. The error names the line.
func ReadLengths(name string, content []byte) (Lengths, error) {
	var all []time.Duration
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	log := false
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if d, ok := pauseOf(line); ok {
			log = true
			all = append(all, d)
			continue
		}
		d, err := time.ParseDuration(line)
		switch {
		case err == nil && d > 0:
			all = append(all, d)
		case log || len(all) == 0 && strings.HasPrefix(line, "["):
			log = true // another line of the log
		default:
			return Lengths{}, i18n.Errorf("error.rate.log", "file", name, "line", n, "value", line)
		}
	}
	if err := lines.Err(); err != nil {
		return Lengths{}, i18n.Errorf("error.rate.read", "file", name, "cause", err)
	}
	if len(all) == 0 {
		return Lengths{}, i18n.Errorf("error.rate.log.none", "file", name)
	}
	slices.Sort(all)
	return Lengths{atoms: group(all), samples: len(all), name: name}, nil
}

func group(sorted []time.Duration) (atoms []atom) {
	size := (len(sorted) + mostAtoms - 1) / mostAtoms
	for part := range slices.Chunk(sorted, size) {
		atoms = append(atoms, atom{float64(len(part)) / float64(len(sorted)), part[0], part[len(part)-1]})
	}
	return atoms
}

// jvmPauses are the forms in which a JVM logs a pause: in a unified log, at a safepoint, and before Java 9.
var jvmPauses = []struct {
	pattern *regexp.Regexp
	unit    time.Duration
}{
	{regexp.MustCompile(`\bPause\b.*?(\d+(?:\.\d+)?)ms\s*$`), time.Millisecond},
	{regexp.MustCompile(`threads were stopped: (\d+(?:\.\d+)?) seconds`), time.Second},
	{regexp.MustCompile(`\bSafepoint\b.*\bTotal: (\d+) ns`), time.Nanosecond},
}

func pauseOf(line string) (time.Duration, bool) {
	for _, f := range jvmPauses {
		if m := f.pattern.FindStringSubmatch(line); m != nil {
			if x, err := strconv.ParseFloat(m[1], 64); err == nil {
				return time.Duration(x * float64(f.unit)), true
			}
		}
	}
	return 0, false
}
