package cost

import (
	"context"
	"math"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// A Lease is the time for which a lock stays closed after its holder has stopped, by the age of its hold. It is
// measured in runs, from outside, without regard to how the lock works.
type Lease struct {
	// Spans are the times between two renewals, by age; the first begins at 0. Empty: there is nothing to measure,
	// since the lock lets a second client in beside its holder.
	Spans []Span
	// Kept: the lease is renewed all the time, as a session is. There is one span, and its Left holds at every age.
	Kept bool
}

// A Span is a time in which a lease runs down without being renewed.
type Span struct {
	From float64 // age of the hold, in leases
	Left float64 // what is left of the lease then, in leases; +Inf: it does not end; 0: it ends with its holder
}

// Forever is longer than any duration: a lock that never comes back by itself. Unmeasured is none: see Lease.Spans.
const (
	Forever    = time.Duration(math.MaxInt64)
	Unmeasured = time.Duration(-1)
)

// Endless reports whether the lock never comes back by itself.
func (l Lease) Endless() bool { return len(l.Spans) > 0 && math.IsInf(l.Spans[0].Left, 1) }

// outlives reports whether the lease goes on when its holder has stopped.
func (l Lease) outlives() bool { return len(l.Spans) > 0 && l.Spans[0].Left > 0 }

// each calls f for the spans of a hold: when each begins, when the lease is renewed next (Forever: it is not), and when
// it ends unless it is. Of a lease that is kept there is one, of which each moment is the first.
func (l Lease) each(ttl, hold time.Duration, f func(from, next, end time.Duration)) {
	if len(l.Spans) == 1 {
		f(0, Forever, leases(l.Spans[0].Left, ttl))
		return
	}
	last := len(l.Spans) - 1 // it may be cut off where the measurement ends
	period := l.Spans[last].From - l.Spans[last-1].From
	for n := 0; ; n++ {
		i := min(n, last-1)
		repeated := float64(n-i) * period
		from, next := l.Spans[i].From+repeated, l.Spans[i+1].From+repeated
		if leases(from, ttl) >= hold {
			return
		}
		f(leases(from, ttl), leases(next, ttl), leases(from+l.Spans[i].Left, ttl))
	}
}

func leases(n float64, ttl time.Duration) time.Duration {
	if x := n * float64(ttl); x < float64(Forever) {
		return time.Duration(x)
	}
	return Forever
}

// harmed returns the part of a hold in which a pause of length d lets a second client in: the lease ends before its
// holder is awake, or before it has finished the work that the pause has delayed, if pauses stop it.
func (l Lease) harmed(ttl, hold, d time.Duration, stopsWork bool) (harmed time.Duration) {
	switch {
	case l.Endless():
		return 0
	case l.Kept && d > leases(l.Spans[0].Left, ttl):
		return hold
	case l.Kept:
		return 0
	}
	l.each(ttl, hold, func(from, next, end time.Duration) {
		to := min(next, hold, end)
		switch {
		case !stopsWork || next < Forever: // awake in time, it renews the lease or finishes as if nothing had been
			harmed += max(0, to-max(from, end-min(d, end)))
		case d > end-hold: // a hold that outlives its lease anyway counts as long as that lasts
			harmed += to - from
		}
	})
	return harmed
}

// What is measured, in leases.
const (
	oldest    = 3.0      // age of a hold; beyond it the last whole span repeats
	step      = 1.0 / 24 // between two ages
	longest   = 2.5      // a lease that lasts longer is taken to be endless
	precision = 1e-4     // of ages and of what is left
)

// A leaseMeter plays runs of one lock: c1 acquires it and stops at some age of its hold; c2 asks for it once.
type leaseMeter struct {
	*race.Prepared
	settings race.Settings
	entered  time.Duration // when c1 enters
}

// leaseRace is the race of a leaseMeter.
func leaseRace(ttl time.Duration) race.Race {
	s := race.Standard()
	s.TTL, s.Latency, s.Horizon = ttl, time.Microsecond, 8*ttl
	return race.Race{
		ID: "crash", Settings: s, Budget: race.FixedBudget("crash=1"),
		Clients: func(race.Settings) []race.ClientSpec {
			return []race.ClientSpec{{Work: 7 * ttl}, {Run: (*race.ClientRun).TryOnce}}
		},
	}
}

// MeasureLease plays runs of one lock with a TTL, from a second to hours. The earliest moment at which c2 enters is the
// end of the lease. When ctx ends the error is ctx's.
func MeasureLease(ctx context.Context, entry lock.Entry, ttl time.Duration) (l Lease, err error) {
	sc := leaseRace(ttl)
	p, err := sc.Prepare(entry, sc.Settings, nil)
	if err != nil {
		return l, err
	}
	defer p.Close()
	m := &leaseMeter{Prepared: p, settings: sc.Settings}
	if m.entered, err = m.enters(1, simulator.Never, ttl/2); err != nil {
		return l, err
	}
	switch beside, err := m.enters(2, m.entered+ttl/2, m.entered+ttl/2+ttl/1000); {
	case err != nil || beside > 0:
		return l, err
	}
	first, err := m.left(0)
	if err != nil {
		return l, err
	}
	l.Spans = []Span{{0, first}}
	for n := 1; n <= oldest/step && !l.Kept && l.outlives() && !l.Endless(); n++ {
		if err := ctx.Err(); err != nil {
			return Lease{}, err
		}
		if err := m.extend(&l, step*float64(n-1), step*float64(n)); err != nil {
			return Lease{}, err
		}
	}
	for i, s := range l.Spans { // without digits below the precision, and the time of the runs' few messages
		l.Spans[i] = Span{math.Round(s.From*2000) / 2000, math.Round(s.Left*2000) / 2000}
	}
	return l, nil
}

// extend adds the renewals between two ages, the latest span being that of the first.
func (m *leaseMeter) extend(l *Lease, from, to float64) error {
	last := l.Spans[len(l.Spans)-1]
	renewed := func(age float64) (bool, error) {
		same, err := m.endsAt(age, last.From+last.Left)
		return !same, err
	}
	if is, err := renewed(to); err != nil || !is {
		return err
	}
	age, err := bisect(from, to, precision, renewed)
	if err != nil {
		return err
	}
	if age-last.From < 4*precision {
		l.Kept = true
		return nil
	}
	left, err := m.left(age)
	if err != nil {
		return err
	}
	l.Spans = append(l.Spans, Span{age, left})
	return m.extend(l, age, to)
}

// left returns what is left of the lease of a holder that stops at the age, in leases.
func (m *leaseMeter) left(age float64) (float64, error) {
	free := func(left float64) (bool, error) { return m.free(age, age+left) }
	if ends, err := free(longest); err != nil || !ends {
		return math.Inf(1), err
	}
	return bisect(0, longest, precision/4, free)
}

// endsAt reports whether the lease of a holder that stops at the age ends at that time.
func (m *leaseMeter) endsAt(age, end float64) (bool, error) {
	if end-precision > age {
		if early, err := m.free(age, end-precision); err != nil || early {
			return false, err
		}
	}
	return m.free(age, max(end, age)+precision)
}

// free reports whether c2, asking at a time, enters at once when c1 stopped at an age; both in leases since c1 entered.
func (m *leaseMeter) free(age, at float64) (bool, error) {
	ttl := m.settings.TTL
	stop := time.Duration(age * float64(ttl))
	ask := m.entered + max(time.Duration(at*float64(ttl)), stop+time.Microsecond)
	in, err := m.enters(2, ask, ask+ttl/1000,
		race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(stop, faults.CrashOf(1))})
	return in > 0, err
}

// enters plays a run up to a horizon, in which c2 asks at a time, and returns when a client is inside first; 0: never.
func (m *leaseMeter) enters(client int, ask, horizon time.Duration, crash ...race.Trigger) (time.Duration, error) {
	s := m.settings
	m.Clients[1].Start, s.Horizon = ask, horizon
	run, err := m.PlayWith(s, crash)
	if err != nil {
		return 0, err
	}
	is := func(e history.Event) bool { return e.Kind == history.Enter && e.Client == client }
	if i := slices.IndexFunc(run.Events, is); i >= 0 {
		return run.Events[i].At, nil
	}
	return 0, nil
}

// bisect returns the least x above low for which holds is true, or up to precision more. At high it is.
func bisect[T ~int64 | ~float64](low, high, precision T, holds func(x T) (bool, error)) (T, error) {
	for high-low > precision {
		middle := (low + high) / 2
		switch is, err := holds(middle); {
		case err != nil:
			return 0, err
		case is:
			high = middle
		default:
			low = middle
		}
	}
	return high, nil
}
