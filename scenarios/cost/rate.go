package cost

import (
	"context"
	"math"
	"slices"
	"time"

	"locklab/scenarios/study"
	"locklab/simulator/i18n"
)

// A Usage describes the machines that use a lock, and how they do.
type Usage struct {
	Machines  int           `json:"machines"`                // each holds one lock at a time at most
	PerSecond float64       `json:"acquisitions_per_second"` // of all machines together
	Work      time.Duration `json:"work_ns"`                 // for which a holder is inside, if nothing goes wrong
	Contended float64       `json:"contended"`               // share of holds in which another client wants the lock
	TTL       time.Duration `json:"ttl_ns"`
	// PauseStopsWork: a pause delays the rest of the work. Otherwise the work is done elsewhere, as in a database, and
	// goes on while the holder is paused.
	PauseStopsWork bool `json:"pause_stops_work"`
}

// Held returns the mean number of locks that are held at any moment.
func (u Usage) Held() float64 { return u.PerSecond * u.Work.Seconds() }

// Check returns an error if there are fewer machines than locks held.
func (u Usage) Check() error {
	if held := u.Held(); held > float64(u.Machines) {
		return i18n.Errorf("error.rate.busy", "machines", u.Machines, "acquisitions", u.PerSecond, "work", u.Work,
			"held", math.Round(held))
	}
	return nil
}

// A Bound is how often a year two clients are inside one lock at once, at most.
type Bound struct {
	Lock     string        `json:"lock"`
	Source   string        `json:"source"` // of pauses
	TTL      time.Duration `json:"ttl_ns"`
	Pauses   float64       `json:"pauses_a_year"`             // of each machine
	Shortest time.Duration `json:"shortest_harmful_pause_ns"` // by the lease; Forever: none does harm
	Harmful  *float64      `json:"share_of_pauses_that_harm"` // of those that strike a hold
	Slow     float64       `json:"slow_work_overlaps_a_year"` // contended holds that outlive the lease without a pause
	// AtMost is the number, of pauses and of slow work; nil: the source has none so long, and no bound. Nil too, with
	// Harmful, where Shortest is Unmeasured: search has no answer or contradicts the runs, or the lease ends with its
	// holder, so that runs say nothing about pauses.
	AtMost *float64 `json:"overlaps_a_year_at_most"`
	Blocked
}

// A Subject is a lock with what is known of it.
type Subject struct {
	Lock  string
	Lease Lease
	Limit study.Limit // the longest pause that search says it survives
}

// Bound returns the Bound of pauses from a source.
func (s Subject) Bound(u Usage, of Source) Bound {
	b := Bound{Lock: s.Lock, Source: of.ID, TTL: u.TTL, Pauses: of.PerYear, Shortest: Unmeasured,
		Blocked: s.Lease.Blocked(u.TTL, u.Work)}
	if !s.agrees(u.PauseStopsWork) {
		return b
	}
	harm := func(d time.Duration) float64 {
		return s.Lease.harmed(u.TTL, u.Work, d, u.PauseStopsWork).Seconds() / u.Work.Seconds()
	}
	b.Harmful, b.Shortest = new(of.Lengths.mean(harm)), Forever
	if harm(Forever) > 0 {
		does := func(d time.Duration) (bool, error) { return harm(d) > 0, nil }
		b.Shortest, _ = bisect(0, Forever/4, time.Microsecond, does)
		b.Shortest = b.Shortest.Truncate(time.Microsecond)
	}
	if l := s.Lease; len(l.Spans) == 1 && !l.Kept && u.Work > leases(l.Spans[0].Left, u.TTL) {
		b.Slow = u.PerSecond * u.Contended * secondsAYear
	}
	if n := b.Pauses*u.Held()*u.Contended**b.Harmful + b.Slow; n > 0 || of.bounds() || harm(Forever) == 0 {
		b.AtMost = &n
	}
	return b
}

// agrees reports whether the lease has a pause do harm from the same length on as search does, for the search's work.
func (s Subject) agrees(stopsWork bool) bool {
	const ttl, slack = time.Hour, 0.01
	at := func(size float64) bool {
		return s.Lease.harmed(ttl, study.UsualWork(ttl), leases(size, ttl), stopsWork) > 0
	}
	switch {
	case !s.Lease.outlives():
		return false
	case s.Limit.Answer == study.AnySize:
		return at(s.Limit.Falls + slack)
	case s.Limit.Answer == study.Limited:
		return !at(s.Limit.Holds-slack) && at(s.Limit.Falls+slack)
	}
	return s.Limit.Answer == study.NoLimit && !at(study.MaxLeases)
}

// A RateOrder is what is to be computed.
type RateOrder struct {
	Usage
	TTLs    []time.Duration // of the curves, beside Usage.TTL
	Sources []Source
}

// UsualRateOrder is the default: of a thousand machines each holds a contended lease of 10 s for a tenth of the time.
func UsualRateOrder() RateOrder {
	o := RateOrder{Sources: Sources(), Usage: Usage{
		Machines: 1000, PerSecond: 100, Work: time.Second, Contended: 1, TTL: 10 * time.Second, PauseStopsWork: true,
	}}
	for _, s := range []time.Duration{1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120} {
		o.TTLs = append(o.TTLs, s*time.Second)
	}
	return o
}

// Rates are the Bounds of locks.
type Rates struct {
	RateOrder
	Subjects []Subject
	Bounds   []Bound // by lock, then by source, then by TTL
}

// meterTTL is a whole multiple of all units of leases. It is long, so that a lock that rounds up to a second seems to
// round by nothing: its rates are then an upper bound.
const meterTTL = time.Hour

// FindRates measures the leases of locks whose tolerance is known, and makes the table. The error may be ctx's.
func FindRates(ctx context.Context, o RateOrder, known *study.Tolerance) (*Rates, error) {
	pause := slices.IndexFunc(known.Hazards, func(h study.Hazard) bool { return h.Fault == "pause" })
	var all []Subject
	for i, e := range known.Locks {
		l, err := MeasureLease(ctx, e, meterTTL)
		if err != nil {
			return nil, err
		}
		all = append(all, Subject{e.ID, l, *known.At(i, pause)})
	}
	return o.Of(all), nil
}

// Of makes the table of locks of which all is known.
func (o RateOrder) Of(all []Subject) *Rates {
	r := &Rates{RateOrder: o, Subjects: all}
	at := func(s Subject, source Source, ttl time.Duration) Bound {
		u := o.Usage
		u.TTL = ttl
		return s.Bound(u, source)
	}
	const unit = time.Second / 10
	ttls := slices.Sorted(slices.Values(append(slices.Clone(o.TTLs), o.TTL)))
	for _, s := range all {
		for _, source := range o.Sources { // up to the TTL at which there is no overlap any more
			none := func(units time.Duration) (bool, error) {
				n := at(s, source, units*unit).AtMost
				return n != nil && *n == 0, nil
			}
			first := slices.IndexFunc(ttls, func(ttl time.Duration) bool { is, _ := none(ttl / unit); return is })
			if first > 0 {
				edge, _ := bisect(ttls[first-1]/unit, ttls[first]/unit, 1, none)
				ttls = append(ttls, edge*unit)
				slices.Sort(ttls)
			}
		}
	}
	ttls = slices.Compact(ttls)
	for _, s := range all {
		for _, source := range o.Sources {
			for _, ttl := range ttls {
				r.Bounds = append(r.Bounds, at(s, source, ttl))
			}
		}
	}
	return r
}
