package cost

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/scenarios/study"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// Rates are the expected numbers of failures of each lock in each environment.
type Rates struct {
	RateOrder
	Subjects []*Subject
	Terms    []Term   // at RateOrder.TTL: by lock; first without a fault, then by environment and cause
	Crashes  []Crash  // at RateOrder.TTL, by lock
	Series   []Series // against RateOrder.TTLs: by lock, then by environment
}

// A Crash is the cost of a crash, by the lease.
type Crash struct {
	Lock string
	TTL  time.Duration
	Blocked
	// PerYear is the sum of the times a year in which no client can enter, over all locks, if
	// an environment has crashes.
	PerYear time.Duration
}

// A Series has the expected failures of one lock in one environment, by TTL.
type Series struct {
	Lock        string
	Environment string
	Points      []Point
}

// A Point has the expected failures at one TTL.
type Point struct {
	TTL      time.Duration
	Expected Interval // a year, of all causes and of slow work
	Unknown  bool     // a cause has no number
}

// FindRates makes the table of locks whose tolerance is known. ctx is as for Study.
func FindRates(ctx context.Context, o RateOrder, known *study.Tolerance) (*Rates, error) {
	subjects, err := Study(ctx, known)
	if err != nil {
		return nil, err
	}
	return Tabulate(o, subjects), nil
}

// Tabulate makes the table of locks that have been studied.
func Tabulate(o RateOrder, subjects []*Subject) *Rates {
	o.TTLs = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(o.TTLs), o.TTL)))) // the title speaks of it
	t := &Rates{RateOrder: o, Subjects: subjects}
	for _, s := range t.Subjects {
		t.Terms = append(t.Terms, s.SlowTerm(o.Usage))
		crash := Crash{Lock: s.Entry.ID, TTL: o.TTL, Blocked: s.Recovery(o.TTL, o.Hold)}
		for _, e := range o.Environments {
			t.Terms = append(t.Terms, s.Terms(o.Usage, e)...)
			for _, c := range e.Causes {
				if c.Fault == "crash" {
					crash.PerYear = crash.times(c.PerYear * o.Holds().Hi * o.Contended)
				}
			}
			if len(e.Causes) > 0 {
				t.Series = append(t.Series, s.series(o, e))
			}
		}
		t.Crashes = append(t.Crashes, crash)
	}
	return t
}

// times returns the sum of the times for which n crashes block.
func (r Blocked) times(n float64) time.Duration {
	if total := r.Mean.Seconds() * n; r.Mean < Forever && total < Forever.Seconds() {
		return time.Duration(total * float64(time.Second))
	}
	return Forever
}

func (s *Subject) series(o RateOrder, e Environment) Series {
	out := Series{Lock: s.Entry.ID, Environment: e.ID}
	for _, ttl := range o.TTLs {
		out.Points = append(out.Points, s.At(o.Usage, e, ttl))
	}
	return out
}

// At returns the Point of an environment with another TTL.
func (s *Subject) At(u Usage, e Environment, ttl time.Duration) Point {
	u.TTL = ttl
	p := Point{TTL: ttl}
	for _, t := range append(s.Terms(u, e), s.SlowTerm(u)) {
		if t.Harm == verdict.Overlap {
			p.Expected = p.Expected.plus(t.Expected)
			p.Unknown = p.Unknown || t.Unknown
		}
	}
	return p
}

// Of returns the terms of one lock.
func (t *Rates) Of(lock string) []Term {
	return lists.Pick(t.Terms, func(term Term) bool { return term.Lock == lock })
}

// A RateOrder is what is to be computed.
type RateOrder struct {
	Usage
	TTLs         []time.Duration // of the curves, rising; two at least
	Environments []Environment
}

// UsualRateOrder is the default: of a thousand machines each holds a contended lease of ten
// seconds for a tenth of the time.
func UsualRateOrder() RateOrder {
	o := RateOrder{
		Usage:        Usage{Machines: 1000, PerSecond: 100, Hold: Always(time.Second), Contended: 1, TTL: 10 * time.Second},
		Environments: Environments(),
	}
	for _, s := range []time.Duration{1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120} {
		o.TTLs = append(o.TTLs, s*time.Second)
	}
	return o
}

// AddFault adds a fault to an environment, which it makes if there is none of this name.
func (o *RateOrder) AddFault(environment, fault, value string) error {
	c, err := parseCause(fault, value)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(o.Environments, func(e Environment) bool { return e.ID == environment })
	if i < 0 {
		o.Environments = append(o.Environments, Environment{ID: environment, Quality: Given, Causes: []Cause{c}})
		return nil
	}
	o.Environments[i].Causes = append(o.Environments[i].Causes, c)
	return nil
}

// Set changes one of Settings.
func (o *RateOrder) Set(key, value string) (err error) {
	switch key {
	case "machines":
		n, bad := strconv.Atoi(value)
		if bad != nil || n < 1 || n > 1e9 {
			return i18n.Errorf("error.rate.machines", "value", value)
		}
		o.Machines = n
	case "acquisitions":
		o.PerSecond, err = strconv.ParseFloat(value, 64)
		if err != nil || !(o.PerSecond > 0 && o.PerSecond <= 1e9) {
			return i18n.Errorf("error.rate.acquisitions", "value", value)
		}
	case "contended":
		o.Contended, err = strconv.ParseFloat(value, 64)
		if err != nil || !(o.Contended >= 0 && o.Contended <= 1) {
			return i18n.Errorf("error.rate.contended", "value", value)
		}
	case "hold":
		if o.Hold, err = ParseLengths(value); err != nil {
			return err
		}
		if !o.Hold.Bounded() {
			return i18n.Errorf("error.rate.hold", "value", value)
		}
	case "work":
		o.Waits, err = study.ParseWork(value)
		return err
	case "ttl":
		o.TTL, err = parseTTL(value)
		return err
	case "ttls":
		return o.setTTLs(value)
	default:
		panic("rate: there is no setting " + key)
	}
	return nil
}

// Settings are the names that Set knows.
var Settings = []string{"machines", "acquisitions", "hold", "work", "contended", "ttl", "ttls"}

func (o *RateOrder) setTTLs(value string) error {
	items := strings.Split(value, ",")
	if len(items) < 2 {
		return i18n.Errorf("error.rate.ttls.one", "value", value)
	}
	o.TTLs = nil
	for i, item := range items {
		d, err := parseTTL(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		if i > 0 && d <= o.TTLs[i-1] {
			return i18n.Errorf("error.rate.ttls.order", "value", item, "before", o.TTLs[i-1])
		}
		o.TTLs = append(o.TTLs, d)
	}
	return nil
}

func parseTTL(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond || d > 1000*time.Hour {
		return 0, i18n.Errorf("error.rate.ttl", "value", value)
	}
	return d, nil
}

// Check returns an error if there are fewer machines than locks held.
func (o *RateOrder) Check() error {
	if held := o.Holds().Lo; held > float64(o.Machines) {
		return i18n.Errorf("error.rate.busy", "machines", o.Machines, "acquisitions", o.PerSecond, "hold", o.Hold, "held", math.Round(held))
	}
	return nil
}

// Shipped are the IDs of Environments.
func Shipped() []string {
	return lists.Each(Environments(), func(e Environment) string { return e.ID })
}
