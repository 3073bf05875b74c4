package cost

import (
	"context"
	"math"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// A Usage describes the machines that use a lock, and how they do.
type Usage struct {
	Machines  int     // each holds one lock at a time at most
	PerSecond float64 // acquisitions a second, of all machines together
	Hold      Lengths // time for which a holder is inside, if nothing goes wrong; Bounded
	Contended float64 // share of holds during which another client wants the lock
	TTL       time.Duration
	// Waits: a holder waits for something else, such as a database, whose work
	// goes on while the holder is paused. Otherwise it computes, and a pause delays the rest
	// of its work.
	Waits bool
}

// Holds returns the expected number of locks that are held at any moment.
func (u Usage) Holds() Interval {
	return u.Hold.Mean(time.Duration.Seconds).times(u.PerSecond)
}

// An Interval is a number of which bounds are known. Hi may be +Inf.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

func (i Interval) times(x float64) Interval {
	out := Interval{i.Lo * x, i.Hi * x}
	if x == 0 {
		out = Interval{} // also of an infinite bound
	}
	return out
}

func (i Interval) plus(o Interval) Interval { return Interval{i.Lo + o.Lo, i.Hi + o.Hi} }

// A Subject is a lock with what is known of it.
type Subject struct {
	Entry  lock.Entry
	Lease  *Lease
	Limits []study.Limit // one for each of study.Hazards
	// Orphaned is the verdict on a run in which a server's reply is lost: Orphan, Deadlock, or
	// Holds.
	Orphaned verdict.Word
}

// Study measures the leases of locks whose tolerance is known. When ctx ends the error is
// ctx's.
func Study(ctx context.Context, known *study.Tolerance) ([]*Subject, error) {
	lost, err := scenarios.ByName("lost-reply")
	if err != nil {
		return nil, err
	}
	var all []*Subject
	for i, e := range known.Locks {
		s := &Subject{Entry: e, Orphaned: verdict.Holds}
		for n := range known.Hazards {
			s.Limits = append(s.Limits, *known.At(i, n))
		}
		out, err := race.Play(e, lost, lost.Settings)
		if err != nil {
			return nil, err
		}
		for _, w := range []verdict.Word{verdict.Orphan, verdict.Deadlock} {
			if slices.Contains(out.Verdicts, w) {
				s.Orphaned = w
			}
		}
		if s.Lease, err = MeasureLease(ctx, e); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// A Term is the expected number of times a year that one cause breaks one lock.
type Term struct {
	Lock        string       `json:"lock"`
	Environment string       `json:"environment,omitempty"`
	Fault       string       `json:"fault"` // SlowWork: none
	Harm        verdict.Word `json:"harm"`
	PerYear     float64      `json:"faults_a_year"` // of each machine or server
	Assumed     bool         `json:"assumed,omitempty"`
	Places      int          `json:"servers,omitempty"` // that it can strike; 0: the machines
	Holds       Interval     `json:"holds_at_any_moment"`
	Contended   float64      `json:"contended"`
	// Shortest is the shortest fault that does harm, by the lease; 0: any, or it has no
	// length; below 0: none does.
	Shortest time.Duration `json:"shortest_ns"`
	Window   Interval      `json:"window"`      // share of a hold in which it must strike
	Long     Interval      `json:"long_enough"` // share of faults of that length
	Expected Interval      `json:"expected_a_year"`
	// Limit is the result of the search with the fault; nil: there was none.
	Limit *study.Limit `json:"search,omitempty"`
	// Unknown: there is no number, because search has no answer or contradicts the runs.
	Unknown bool `json:"unknown,omitempty"`
	// Bare: the fault does harm only to a hold that has a bare majority. Their number is not
	// known, so that Expected begins at 0.
	Bare bool `json:"bare_majority,omitempty"`
}

// SlowWork is the cause of a hold that outlives its lease without any fault.
const SlowWork = "slow-work"

// Terms are the terms of all causes of an environment. Without a cause there is none.
func (s *Subject) Terms(u Usage, e Environment) (terms []Term) {
	for _, c := range e.Causes {
		if c.Fault != "crash" {
			terms = append(terms, s.Term(u, e, c))
		}
	}
	return terms
}

// Term is that of one cause.
func (s *Subject) Term(u Usage, e Environment, c Cause) Term {
	t := Term{
		Lock: s.Entry.ID, Environment: e.ID, Fault: c.Fault, Harm: verdict.Overlap,
		PerYear: c.PerYear, Assumed: c.Assumed, Holds: u.Holds(), Contended: u.Contended, Shortest: -1,
	}
	if c.Fault == "lose-reply" {
		return s.lostReply(u, t)
	}
	for i, h := range study.Hazards() {
		if h.Fault == c.Fault && i < len(s.Limits) {
			t.Limit = &s.Limits[i]
		}
	}
	if t.Unknown = t.Limit == nil || t.Limit.Answer == study.NoAnswer || len(s.Lease.Spans) == 0; t.Unknown {
		return t
	}
	if c.Fault != "pause" && c.Fault != "client-clock" { // they strike machines
		t.Places = s.Entry.Asked()
	}
	switch c.Fault {
	case "failover", "restart":
		s.forgetting(u, c, &t)
	default:
		s.lasting(u, c, &t)
	}
	if t.Unknown {
		return t
	}
	rate := t.PerYear * t.Contended * float64(max(t.Places, 1))
	t.Expected = Interval{t.Holds.Lo * t.Window.Lo * t.Long.Lo, t.Holds.Hi * t.Window.Hi * t.Long.Hi}.times(rate)
	if t.Places > 0 && s.Entry.Nodes > 1 {
		t.Bare, t.Expected.Lo = true, 0
	}
	return t
}

// lasting fills in a fault that lasts: from some length on it does harm.
func (s *Subject) lasting(u Usage, c Cause, t *Term) {
	harmed := s.Lease.paused(u.Waits)
	if c.Fault != "pause" {
		harmed = s.Lease.jumped
	}
	switch {
	case t.Limit.Answer == study.NoLimit && (c.Fault != "pause" || math.IsInf(s.Lease.Spans[0].Left, 1)):
		// Longer faults than were searched may do harm to what a clock can end.
		if c.Fault != "pause" {
			t.Long = Interval{0, c.Lengths.LongerThan(study.MaxLeases * u.TTL).Hi}
			t.Window = Interval{0, 1}
		}
	case !s.agrees(harmed, t.Limit):
		t.Unknown = true
	default:
		t.Shortest = s.shortest(u, harmed)
		t.Long = c.Lengths.LongerThan(max(t.Shortest-1, 0))
		all := meanOfBoth(c.Lengths, u.Hold, func(d, hold time.Duration) float64 { return harmed(u.TTL, hold, d).Seconds() })
		mean := u.Hold.Mean(time.Duration.Seconds)
		share := Interval{ratio(all.Lo, mean.Lo), ratio(all.Hi, mean.Hi)}
		t.Window = Interval{ratio(share.Lo, t.Long.Lo), min(ratio(share.Hi, t.Long.Hi), 1)}
	}
}

// forgetting fills in a fault by which a server loses its latest writes.
func (s *Subject) forgetting(u Usage, c Cause, t *Term) {
	if t.Limit.Answer == study.FallsOnce {
		t.Shortest = 0
		t.Long = Interval{1, 1}
		mean := u.Hold.Mean(time.Duration.Seconds)
		young := u.Hold.Mean(func(hold time.Duration) float64 { return min(hold, c.Window).Seconds() })
		t.Window = Interval{ratio(young.Lo, mean.Lo), ratio(young.Hi, mean.Hi)}
	}
}

// lostReply fills in a reply that is lost: of each acquisition there is one that matters.
func (s *Subject) lostReply(u Usage, t Term) Term {
	t.Harm, t.Contended = s.Orphaned, 1
	if s.Orphaned == verdict.Holds {
		return t
	}
	t.Shortest = 0
	n := u.PerSecond * secondsAYear * t.PerYear
	t.Holds, t.Window, t.Long = Interval{u.PerSecond, u.PerSecond}, Interval{1, 1}, Interval{1, 1}
	t.Expected = Interval{n, n}
	return t
}

// SlowTerm returns the Term of work that outlives the lease without any fault.
func (s *Subject) SlowTerm(u Usage) Term {
	t := Term{Lock: s.Entry.ID, Fault: SlowWork, Harm: verdict.Overlap, Holds: u.Holds(), Contended: u.Contended, Shortest: -1}
	if len(s.Lease.Spans) != 1 || s.Lease.Kept || math.IsInf(s.Lease.Spans[0].Left, 1) {
		t.Unknown = len(s.Lease.Spans) == 0
		return t
	}
	end := leases(s.Lease.Spans[0].Left, u.TTL)
	t.Shortest, t.Window = end, Interval{1, 1}
	t.Long = u.Hold.LongerThan(end)
	t.Expected = t.Long.times(u.PerSecond * secondsAYear * u.Contended)
	return t
}

// meanOfBoth is the expected value of a function that grows with both lengths.
func meanOfBoth(faults, holds Lengths, f func(fault, hold time.Duration) float64) Interval {
	of := func(d time.Duration) Interval {
		return holds.Mean(func(hold time.Duration) float64 { return f(d, hold) })
	}
	return Interval{
		faults.Mean(func(d time.Duration) float64 { return of(d).Lo }).Lo,
		faults.Mean(func(d time.Duration) float64 { return of(d).Hi }).Hi,
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func leases(n float64, ttl time.Duration) time.Duration {
	if x := n * float64(ttl); x < float64(Forever) {
		return time.Duration(x)
	}
	return Forever
}

// shortest is the shortest length that does harm to the longest hold.
func (s *Subject) shortest(u Usage, harmed harm) time.Duration {
	hold := u.Hold.Longest()
	if harmed(u.TTL, hold, Forever) == 0 {
		return -1
	}
	least, _ := bisect(0, Forever/4, time.Microsecond, func(d time.Duration) (bool, error) {
		return harmed(u.TTL, hold, d) > 0, nil
	})
	return least
}

// agrees reports whether the lease has a fault do harm from the same length on as search
// does, for the hold that the search made.
func (s *Subject) agrees(harmed harm, l *study.Limit) bool {
	const ttl, slack = time.Hour, 0.01
	at := func(size float64) bool { return harmed(ttl, study.UsualWork(ttl), leases(size, ttl)) > 0 }
	switch l.Answer {
	case study.AnySize:
		return at(l.Falls + slack)
	case study.Limited:
		return !at(l.Holds-slack) && at(l.Falls+slack)
	case study.NoLimit:
		return !at(study.MaxLeases)
	}
	return false
}

// A harm returns the part of a hold in which a fault of length d does harm.
type harm func(ttl, hold, d time.Duration) time.Duration

// paused is the harm of a pause: the lease ends before its holder is awake, or before it
// has finished the work that the pause has delayed.
func (l *Lease) paused(waits bool) harm {
	return func(ttl, hold, d time.Duration) (harmed time.Duration) {
		if l.Kept && d > leases(l.Spans[0].Left, ttl) {
			return hold
		}
		l.each(ttl, hold, func(from, next, end time.Duration) {
			to := min(next, hold, end)
			switch {
			case waits || next < Forever: // awake in time, it renews the lease or finishes as if nothing had been
				harmed += max(0, to-max(from, end-min(d, end)))
			case d > end-hold: // a hold that outlives its lease anyway counts as long as that lasts
				harmed += to - from
			}
		})
		return harmed
	}
}

// jumped is the harm of a clock that jumps ahead: the lease ends before it is renewed, or
// before its holder has finished.
func (l *Lease) jumped(ttl, hold, d time.Duration) (harmed time.Duration) {
	if l.Kept && d > leases(l.Spans[0].Left, ttl) {
		return hold
	}
	l.each(ttl, hold, func(from, next, end time.Duration) {
		if to := min(next, hold); d > end-to {
			harmed += min(to, end) - from
		}
	})
	return harmed
}

// each calls f for the spans of a hold: when each begins, when the lease is renewed next
// (Forever: it is not), and when it ends unless it is.
func (l *Lease) each(ttl, hold time.Duration, f func(from, next, end time.Duration)) {
	if l.Kept {
		return
	}
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

// Blocked is the time after a holder's crash in which no client can enter. The crash is equally
// likely at any moment of a hold.
type Blocked struct {
	Mean, Longest time.Duration // Forever: until an operator deletes the key
}

// Recovery follows from the lease.
func (s *Subject) Recovery(ttl time.Duration, hold Lengths) Blocked {
	l := s.Lease
	if len(l.Spans) == 0 {
		return Blocked{}
	}
	if math.IsInf(l.Spans[0].Left, 1) {
		return Blocked{Forever, Forever}
	}
	if l.Kept {
		left := leases(l.Spans[0].Left, ttl)
		return Blocked{left, left}
	}
	out := Blocked{}
	total, mean := 0.0, 0.0
	for _, a := range hold.atoms {
		l.each(ttl, a.hi, func(from, next, end time.Duration) {
			to := min(next, a.hi, end)
			if to > from {
				total += a.share * (to - from).Seconds() * ((end - from) + (end - to)).Seconds() / 2
			}
			out.Longest = max(out.Longest, end-from)
		})
		mean += a.share * a.hi.Seconds()
	}
	out.Mean = time.Duration(ratio(total, mean) * float64(time.Second))
	return out
}
