package rate

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

// A Lease is for how long a lock stays closed after its holder has stopped, by the age of
// its hold. It is measured in runs, from outside: how a lock works is not asked.
type Lease struct {
	Strategy string
	// Spans are the times between two renewals, by age; the first begins at 0. Empty:
	// the lock keeps nobody out.
	Spans []Span
	// Kept says that the lease is renewed all the time, as a session is: there is one
	// span, and its Left holds at every age.
	Kept bool
}

// A Span is a time in which a lease runs down without being renewed.
type Span struct {
	From float64 // age of the hold, in leases
	Left float64 // what is left of the lease then, in leases; +Inf: it does not end
}

// What is measured, in leases.
const (
	oldest    = 3.0      // age of a hold; beyond it the last whole span repeats
	step      = 1.0 / 24 // between two ages
	longest   = 2.5      // a lease that lasts longer is taken to be endless
	precision = 1e-4     // of ages and of what is left
)

// MeasureLease plays runs of one lock. c1 acquires it and stops at some age of its hold;
// c2 asks once, and the earliest moment at which it enters is the end of the lease.
func MeasureLease(ctx context.Context, entry lock.Entry) (*Lease, error) {
	m, err := newMeter(entry)
	if err != nil {
		return nil, err
	}
	defer m.close()
	out := &Lease{Strategy: entry.ID}
	first, err := m.left(0)
	switch {
	case err != nil:
		return nil, err
	case first < precision:
		return out, nil // nobody is kept out
	}
	out.Spans = []Span{{0, first}}
	if math.IsInf(first, 1) {
		return out, nil
	}
	for n := 1; n <= oldest/step && !out.Kept; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.extend(out, step*float64(n-1), step*float64(n)); err != nil {
			return nil, err
		}
	}
	for i, s := range out.Spans {
		out.Spans[i] = Span{round(s.From), round(s.Left)}
	}
	return out, nil
}

// extend adds the renewals between two ages, the latest span being that of the first.
func (m *meter) extend(l *Lease, from, to float64) error {
	last := l.Spans[len(l.Spans)-1]
	same, err := m.endsAt(to, last.From+last.Left)
	if err != nil || same {
		return err
	}
	low, high := from, to // a renewal lies between them
	for high-low > precision {
		middle := (low + high) / 2
		if same, err = m.endsAt(middle, last.From+last.Left); err != nil {
			return err
		}
		if same {
			low = middle
		} else {
			high = middle
		}
	}
	if high-last.From < 4*precision {
		l.Kept = true
		return nil
	}
	left, err := m.left(high)
	if err != nil {
		return err
	}
	l.Spans = append(l.Spans, Span{high, left})
	return m.extend(l, high, to)
}

// A meter plays the runs of one lock.
type meter struct {
	settings race.Settings
	prepared *race.Prepared
}

// meterTTL is a whole multiple of all units of leases. It is long, so that a lock that
// rounds up to a second seems to round by nothing: its rates are then an upper bound.
const meterTTL = time.Hour

func newMeter(entry lock.Entry) (*meter, error) {
	s := race.Standard()
	s.TTL, s.Latency, s.Horizon = meterTTL, time.Microsecond, 8*meterTTL
	sc := race.Scenario{
		ID: "lease", Settings: s, Budget: race.FixedBudget("crash=1"),
		Clients: func(s race.Settings) []race.Client {
			return []race.Client{{Work: 7 * s.TTL}, {Run: (*race.ClientRun).TryOnce}}
		},
	}
	p, err := sc.Prepare(entry, s)
	return &meter{s, p}, err
}

func (m *meter) close() { m.prepared.Close() }

// left is what is left of the lease of a holder that stops at the age, in leases.
func (m *meter) left(age float64) (float64, error) {
	enters, err := m.enters(age, age+longest)
	if err != nil || !enters {
		return math.Inf(1), err
	}
	low, high := 0.0, longest // refused, enters
	for high-low > precision/4 {
		middle := (low + high) / 2
		if enters, err = m.enters(age, age+middle); err != nil {
			return 0, err
		}
		if enters {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

// round drops what the runs do not tell, and the few messages that they take.
func round(leases float64) float64 { return math.Round(leases*2000) / 2000 }

// endsAt says whether the lease of a holder that stops at the age ends at that time.
func (m *meter) endsAt(age, end float64) (bool, error) {
	if end-precision > age {
		early, err := m.enters(age, end-precision)
		if err != nil || early {
			return false, err
		}
	}
	return m.enters(age, max(end, age)+precision)
}

// enters says whether c2 enters at once when it asks at a time, c1 having stopped at an
// age; both in leases since c1 entered.
func (m *meter) enters(age, at float64) (bool, error) {
	p, s := m.prepared, m.settings
	ttl := float64(s.TTL)
	entered, err := m.entry()
	if err != nil {
		return false, err
	}
	stop := time.Duration(age * ttl)
	p.Clients[1].Start = max(entered+time.Duration(at*ttl), entered+stop+time.Microsecond)
	p.Scenario.Script = func(race.Settings, int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(stop, faults.CrashOf(1))}}
	}
	s.Horizon = p.Clients[1].Start + s.TTL/1000
	run, err := p.Player.Play(p.Options(s))
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(run.Events, func(e history.Event) bool { return e.Kind == history.Enter && e.Client == 2 }), nil
}

// entry is when c1 enters.
func (m *meter) entry() (time.Duration, error) {
	p, s := m.prepared, m.settings
	p.Scenario.Script = nil
	p.Clients[1].Start = simulator.Never
	s.Horizon = s.TTL / 2
	run, err := p.Player.Play(p.Options(s))
	if err != nil {
		return 0, err
	}
	for _, e := range run.Events {
		if e.Kind == history.Enter && e.Client == 1 {
			return e.At, nil
		}
	}
	return 0, nil
}
