package cost

import (
	"strconv"
	"strings"
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// A Source has the frequency and the lengths of the pauses of a machine. Its texts stand in the catalogues:
// environment.<ID>.what and .source.
type Source struct {
	ID      string  `json:"source"`
	Quality Quality `json:"quality"`
	PerYear float64 `json:"pauses_a_year"` // of each machine
	Assumed bool    `json:"assumed"`       // the source does not say how many pauses there are, so that PerYear is 1
	Lengths Lengths `json:"lengths"`
}

// A Quality says how sure a figure is.
type Quality string

// The qualities of figures. Given is what a user has given.
const (
	Typical  Quality = "typical"
	Maximum  Quality = "bound"
	Anecdote Quality = "anecdote"
	Given    Quality = "given"
)

// bounds reports whether no pause of a source is longer than its longest one.
func (s Source) bounds() bool { return s.Quality == Maximum || s.Quality == Given }

// Sources are those whose figures were found.
func Sources() []Source {
	source := func(id string, quality Quality, perYear float64, lengths string) Source {
		l, err := ParseLengths(lengths)
		if err != nil {
			panic(err) // a mistake in this list
		}
		if perYear == 0 {
			return Source{id, quality, 1, true, l}
		}
		return Source{id, quality, perYear, false, l}
	}
	return []Source{
		source("azure", Maximum, 12.0/18, "30s"),
		source("azure-migration", Typical, 0, "5s"),
		source("google", Typical, 12, "p50=50ms,p99=300ms"),
		source("jvm-log", Anecdote, 0, "5s"),
		source("cfs", Maximum, 0, "100ms"),
	}
}

// SourceIDs are the names of Sources.
func SourceIDs() []string { return lists.Each(Sources(), func(s Source) string { return s.ID }) }

// ParseSource reads how often a machine pauses and for how long, such as "1/18months 30s". That is its ID too.
func ParseSource(written string) (s Source, err error) {
	often, lengths, _ := strings.Cut(strings.TrimSpace(written), " ")
	s = Source{ID: written, Quality: Given}
	if s.PerYear, err = parseOften(often); err != nil {
		return s, err
	}
	if lengths = strings.TrimSpace(lengths); lengths == "" {
		return s, i18n.Errorf("error.rate.lengths", "value", written)
	}
	s.Lengths, err = ParseLengths(lengths)
	return s, err
}

// units are the times in which pauses are counted, in years.
var units = map[string]float64{
	"year": 1, "month": 1.0 / 12, "week": 7 / daysAYear, "day": 1 / daysAYear, "hour": 1 / daysAYear / 24,
}

const (
	daysAYear    = 365.0
	secondsAYear = daysAYear * 24 * 3600
)

// parseOften reads how often something happens, such as 12/year or 1/18months, as a number a year.
func parseOften(s string) (float64, error) {
	count, per, ok := strings.Cut(s, "/")
	n, err := strconv.ParseFloat(count, 64)
	name := strings.TrimLeft(per, "0123456789.")
	many := 1.0
	if number := strings.TrimSuffix(per, name); number != "" {
		var bad error
		many, bad = strconv.ParseFloat(number, 64)
		ok = ok && bad == nil && many > 0
	}
	unit, known := units[strings.TrimSuffix(name, "s")]
	if !ok || err != nil || !known || !(n >= 0 && n <= 1e12) {
		return 0, i18n.Errorf("error.rate.often", "value", s)
	}
	return n / (many * unit), nil
}

// Lengths are those of pauses. Of two percentiles only the share between them is known, so that each of its pauses is
// taken to be as long as the upper one.
type Lengths struct {
	shares []lengthShare
	name   string // as it was given
}

// A lengthShare is a share of pauses that are that long at most; Forever: there is no longest.
type lengthShare struct {
	share float64
	most  time.Duration
}

// String returns the lengths as they were given, and so does JSON.
func (l Lengths) String() string               { return l.name }
func (l Lengths) MarshalText() ([]byte, error) { return []byte(l.name), nil }

// mean is the expected value of a function that grows with the length, at most. f gets Forever too.
func (l Lengths) mean(f func(d time.Duration) float64) (sum float64) {
	for _, s := range l.shares {
		sum += s.share * f(s.most)
	}
	return sum
}

// ParseLengths reads one length, such as 30s, or percentiles, such as p50=50ms,p99=300ms. What lies above the last
// percentile has no bound unless it is p100.
func ParseLengths(s string) (Lengths, error) {
	out := Lengths{name: s}
	if !strings.Contains(s, "=") {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return out, i18n.Errorf("error.rate.length", "value", s)
		}
		out.shares = []lengthShare{{1, d}}
		return out, nil
	}
	below, before := 0.0, time.Duration(0)
	for item := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		d, bad := time.ParseDuration(value)
		switch {
		case err != nil || !strings.HasPrefix(name, "p") || !(p > 0 && p <= 100) || bad != nil || d <= 0:
			return out, i18n.Errorf("error.rate.percentile", "value", item)
		case p <= below || d < before:
			return out, i18n.Errorf("error.rate.percentile.order", "value", item)
		}
		out.shares = append(out.shares, lengthShare{(p - below) / 100, d})
		below, before = p, d
	}
	if below < 100 {
		out.shares = append(out.shares, lengthShare{(100 - below) / 100, Forever})
	}
	return out, nil
}
