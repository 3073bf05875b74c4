package cost

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

var _ client.Requester = (*session)(nil)

// A session is that of one client with the ensemble. It does not end.
type session struct {
	process *process
	id      zookeeper.SessionID
	fired   []zookeeper.Event
	waits   func() // resumes a client that waits for a watch
}

func newSession(c *process) *session {
	s := &session{process: c}
	c.ensemble, s.id = c.ensemble.Connect()
	c.sessions[s.id] = s
	return s
}

func (s *session) Do(_ context.Context, r zookeeper.Request) (reply zookeeper.Reply, err error) {
	b := s.process.simulation
	s.process.ask(1, func() {
		var fired []zookeeper.Event
		b.ensemble, reply, fired = b.ensemble.Apply(s.id, r)
		for _, e := range fired {
			to := b.sessions[e.Session]
			b.after(to.process.trip(), func() { to.notify(e) })
		}
	})
	if reply.Code != zookeeper.OK {
		err = reply.Code
	}
	return reply, err
}

func (s *session) Watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, lock.Watch, error) {
	s.fired = slices.DeleteFunc(s.fired, func(e zookeeper.Event) bool { return e.Path == r.Path })
	r.Watch = true
	reply, err := s.Do(ctx, r)
	return reply, watch{s, r.Path, r.Op == zookeeper.GetChildren}, err
}

func (s *session) notify(e zookeeper.Event) {
	s.fired = append(s.fired, e)
	s.process.woken++
	if s.waits != nil {
		s.waits()
	}
}

type watch struct {
	session  *session
	path     string
	children bool
}

var errPatience = errors.New("waiting: a watch is waited for without end")

// Wait waits without end: no client of this simulation gives up.
func (w watch) Wait(_ context.Context, patience time.Duration) (bool, error) {
	if patience < time.Hour {
		return false, errPatience
	}
	s := w.session
	fired := func() bool {
		return slices.ContainsFunc(s.fired, func(e zookeeper.Event) bool {
			return e.Path == w.path && (e.Type == zookeeper.NodeDeleted || (e.Type == zookeeper.NodeChildrenChanged) == w.children)
		})
	}
	for !fired() {
		s.process.wait(func(resume func()) { s.waits = resume })
		s.waits = nil
	}
	return true, nil
}

// A Lease is the time for which a lock stays closed after its holder has stopped, by the age of
// its hold. It is measured in runs, from outside, without regard to how the lock works.
type Lease struct {
	Lock string
	// Spans are the times between two renewals, by age; the first begins at 0. Empty:
	// the lock excludes no client.
	Spans []Span
	// Kept: the lease is renewed all the time, as a session is. There is one
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
	s := race.Standard()
	s.TTL, s.Latency, s.Horizon = meterTTL, time.Microsecond, 8*meterTTL
	m, err := newCrashMeter(entry, crashRace(s, race.ClientSpec{Work: 7 * s.TTL}))
	if err != nil {
		return nil, err
	}
	defer m.close()
	alone, err := m.play(simulator.Never, s.TTL/2)
	if err != nil {
		return nil, err
	}
	m.entered = entered(alone, 1)
	out := &Lease{Lock: entry.ID}
	first, err := m.left(0)
	switch {
	case err != nil:
		return nil, err
	case first < precision:
		return out, nil // it excludes no client
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
func (m *crashMeter) extend(l *Lease, from, to float64) error {
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

// meterTTL is a whole multiple of all units of leases. It is long, so that a lock that
// rounds up to a second seems to round by nothing: its rates are then an upper bound.
const meterTTL = time.Hour

// left returns what is left of the lease of a holder that stops at the age, in leases.
func (m *crashMeter) left(age float64) (float64, error) {
	enters := func(left float64) (bool, error) { return m.enters(age, age+left) }
	if ends, err := enters(longest); err != nil || !ends {
		return math.Inf(1), err
	}
	return bisect(0, longest, precision/4, enters)
}

// round drops digits below the precision of the runs, and the time of their few messages.
func round(leases float64) float64 { return math.Round(leases*2000) / 2000 }

// endsAt reports whether the lease of a holder that stops at the age ends at that time.
func (m *crashMeter) endsAt(age, end float64) (bool, error) {
	if end-precision > age {
		early, err := m.enters(age, end-precision)
		if err != nil || early {
			return false, err
		}
	}
	return m.enters(age, max(end, age)+precision)
}

// enters reports whether c2 enters at once when it asks at a time, c1 having stopped at an
// age; both in leases since c1 entered.
func (m *crashMeter) enters(age, at float64) (bool, error) {
	ttl := m.settings.TTL
	stop := time.Duration(age * float64(ttl))
	ask := max(m.entered+time.Duration(at*float64(ttl)), m.entered+stop+time.Microsecond)
	crash := race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(stop, faults.CrashOf(1))}
	events, err := m.play(ask, ask+ttl/1000, crash)
	return entered(events, 2) > 0, err
}
