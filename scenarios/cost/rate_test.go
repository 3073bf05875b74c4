package cost_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// limitsOf are those that search finds for the milestones (cmd/locklab's goldens have
// them); they are copied so that these tests need no search.
func limitsOf(locks []lock.Entry) *study.Tolerance {
	limited := func(holds, falls float64) study.Limit {
		return study.Limit{Answer: study.Limited, Holds: holds, Falls: falls}
	}
	none := study.Limit{Answer: study.NoLimit, Holds: study.MaxLeases}
	falls := study.Limit{Answer: study.FallsOnce}
	known := map[string][]study.Limit{
		"setnx":        {none, none, none, falls, falls},
		"setnx-expire": {limited(0.55, 0.6), none, limited(0.55, 0.6), falls, falls},
		"getset":       {limited(0.55, 0.6), limited(0.55, 0.6), none, falls, falls},
		"token":        {limited(0.55, 0.6), none, limited(0.55, 0.6), falls, falls},
		"watchdog":     {limited(0.65, 0.7), none, limited(0.65, 0.7), falls, falls},
		"redlock":      {limited(0.55, 0.6), none, limited(0.55, 0.6), falls, falls},
	}
	t := &study.Tolerance{Locks: locks, Hazards: study.Hazards()}
	for _, e := range locks {
		for i, l := range known[e.ID] {
			l.Lock, l.Fault = e.ID, t.Hazards[i].Fault
			t.Limits = append(t.Limits, l)
		}
	}
	return t
}

func subjects(t *testing.T) map[string]*cost.Subject {
	t.Helper()
	all := racetest.Must(cost.Study(t.Context(), limitsOf(algorithms.Milestones())))(t)
	out := map[string]*cost.Subject{}
	for _, s := range all {
		out[s.Entry.ID] = s
	}
	return out
}

// Of 1,000 machines each holds a contended lease of 10 s for a tenth of the time, and
// stops for 30 s once in 18 months: 1000 x 12/18 x 0.1 times a year a pause strikes a
// hold. A lease of 60 s outlasts each.
func TestSanity(t *testing.T) {
	all := subjects(t)
	azure := cost.Environments()[0]
	for _, c := range []struct {
		lock string
		ttl  time.Duration
		want float64
	}{
		{"token", 10 * time.Second, 66.67}, {"token", 60 * time.Second, 0},
		{"token", 30 * time.Second, 66.67}, {"token", 31 * time.Second, 0},
		{"watchdog", 10 * time.Second, 66.67}, {"watchdog", 60 * time.Second, 0},
		{"redlock", 10 * time.Second, 66.67}, {"setnx", 10 * time.Second, 0},
	} {
		u := cost.UsualRateOrder().Usage
		u.TTL = c.ttl
		terms := all[c.lock].Terms(u, azure)
		if len(terms) != 1 || terms[0].Unknown || math.Abs(terms[0].Expected.Lo-c.want) > 0.01 || terms[0].Expected.Hi != terms[0].Expected.Lo {
			t.Errorf("%s, %v: %+v, want %g", c.lock, c.ttl, terms, c.want)
		}
		if slow := all[c.lock].SlowTerm(u); slow.Expected.Hi != 0 {
			t.Errorf("%s, %v: %+v without a fault", c.lock, c.ttl, slow)
		}
	}
}

// leased is a lock whose lease is one TTL, made by hand: its terms need no runs.
func leased(servers int) *cost.Subject {
	return &cost.Subject{
		Entry:    lock.Entry{ID: "leased", Server: lock.OnRedis(servers)},
		Lease:    &cost.Lease{Lock: "leased", Spans: []cost.Span{{From: 0, Left: 1}}},
		Orphaned: verdict.Orphan,
		Limits: []study.Limit{
			{Fault: "pause", Answer: study.Limited, Holds: 0.55, Falls: 0.6},
			{Fault: "client-clock", Answer: study.NoLimit, Holds: study.MaxLeases},
			{Fault: "node-clock", Answer: study.Limited, Holds: 0.55, Falls: 0.6},
			{Fault: "failover", Answer: study.FallsOnce},
			{Fault: "restart", Answer: study.FallsOnce},
		},
	}
}

// shop has eight holds of 4 s at any moment, a quarter of them contended.
func shop() cost.Usage {
	return cost.Usage{Machines: 10, PerSecond: 2, Hold: cost.Always(4 * time.Second), Contended: 0.25, TTL: 10 * time.Second, Waits: true}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Three faults a year strike two contended holds: 6 a year, if each does harm at any
// moment; of each of five servers, 30 at most.
func TestTermByHand(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		servers int
		cause   cost.Cause
		want    cost.Interval
		bare    bool
	}{
		{1, cost.Cause{Fault: "pause", Lengths: cost.Always(8 * second)}, cost.Interval{Lo: 3, Hi: 3}, false},
		{5, cost.Cause{Fault: "pause", Lengths: cost.Always(8 * second)}, cost.Interval{Lo: 3, Hi: 3}, false},
		{1, cost.Cause{Fault: "node-clock", Lengths: cost.Always(6 * second)}, cost.Interval{}, false},
		{1, cost.Cause{Fault: "node-clock", Lengths: cost.Always(7 * second)}, cost.Interval{Lo: 6, Hi: 6}, false},
		{5, cost.Cause{Fault: "node-clock", Lengths: cost.Always(7 * second)}, cost.Interval{Hi: 30}, true},
		{1, cost.Cause{Fault: "failover", Window: second}, cost.Interval{Lo: 1.5, Hi: 1.5}, false},
		{5, cost.Cause{Fault: "failover", Window: second}, cost.Interval{Hi: 7.5}, true},
		// Search has looked at jumps of two leases at most.
		{1, cost.Cause{Fault: "client-clock", Lengths: cost.Always(20 * second)}, cost.Interval{}, false},
		{1, cost.Cause{Fault: "client-clock", Lengths: cost.Always(21 * second)}, cost.Interval{Hi: 6}, false},
	} {
		c.cause.PerYear = 3
		got := leased(c.servers).Term(shop(), cost.Environment{}, c.cause)
		if got.Unknown || got.Bare != c.bare || !near(got.Expected.Lo, c.want.Lo) || !near(got.Expected.Hi, c.want.Hi) {
			t.Errorf("%s of %v or %v, %d servers: %+v, want %v", c.cause.Fault, c.cause.Lengths, c.cause.Window, c.servers, got, c.want)
		}
	}
}

// Where search has no answer, or another one than the runs, there is no number: neither
// that of the cause, nor one for all causes together, nor a TTL that is safe.
func TestNoNumberWithoutAgreement(t *testing.T) {
	pause := cost.Cause{Fault: "pause", PerYear: 3, Lengths: cost.Always(8 * time.Second)}
	e := cost.Environment{ID: "e", Quality: cost.Given, Causes: []cost.Cause{pause}}
	o := cost.RateOrder{Usage: shop(), TTLs: []time.Duration{10 * time.Second, time.Minute}, Environments: []cost.Environment{e}}
	for name, limit := range map[string]*study.Limit{
		"not asked":     nil,
		"no answer":     {Answer: study.NoAnswer},
		"falls later":   {Answer: study.Limited, Holds: 1, Falls: 1.05},
		"falls earlier": {Answer: study.Limited, Holds: 0.3, Falls: 0.35},
		"in between":    {Answer: study.Limited, Holds: 0.3, Falls: 0.65},
		"falls at any":  {Answer: study.AnySize, Falls: 0.05},
		"never falls":   {Answer: study.NoLimit, Holds: study.MaxLeases},
	} {
		s := leased(1)
		s.Limits = nil
		if limit != nil {
			limit.Fault = "pause"
			s.Limits = []study.Limit{*limit}
		}
		agree := name == "in between" // the runs fall at 0.6, within what search leaves open
		if got := s.Term(o.Usage, e, pause); got.Unknown == agree || (got.Expected == cost.Interval{}) == agree {
			t.Errorf("%s: %+v", name, got)
		}
		if p := s.At(o.Usage, e, o.TTL); p.Unknown == agree {
			t.Errorf("%s: %+v for all causes", name, p)
		}
	}
}

// Work that takes longer than the lease breaks the lock each time that somebody waits,
// unless the lease is kept as a session is.
func TestSlowWork(t *testing.T) {
	const aYear = 365 * 24 * 3600
	for _, c := range []struct {
		hold time.Duration
		kept bool
		want float64
	}{{10 * time.Second, false, 0}, {10*time.Second + 1, false, aYear / 2}, {20 * time.Second, true, 0}} {
		s, u := leased(1), shop()
		s.Lease.Kept, u.Hold = c.kept, cost.Always(c.hold)
		if got := s.SlowTerm(u); got.Unknown || !near(got.Expected.Lo, c.want) || !near(got.Expected.Hi, c.want) {
			t.Errorf("holds of %v, kept %t: %+v, want %v", c.hold, c.kept, got, c.want)
		}
	}
}

// Six crashes a year strike a contended hold; each blocks for 8 s on average, and for 10 s
// at most. A lost reply leaves an orphan: it is no overlap.
func TestCrashesAndOrphans(t *testing.T) {
	s := leased(1)
	e := cost.Environment{ID: "e", Quality: cost.Given, Causes: []cost.Cause{{Fault: "crash", PerYear: 3}, {Fault: "lose-reply", PerYear: 0.5}}}
	table := cost.Tabulate(cost.RateOrder{Usage: shop(), Environments: []cost.Environment{e}}, []*cost.Subject{s})
	if c := table.Crashes[0]; c.Mean != 8*time.Second || c.Longest != 10*time.Second || c.PerYear.Round(time.Microsecond) != 48*time.Second {
		t.Errorf("%+v, want 8s, 10s and 48s a year", c)
	}
	if p := s.At(shop(), e, 10*time.Second); p.Expected != (cost.Interval{}) {
		t.Errorf("%+v, want no overlap", p)
	}
}

// A lease of 9 s that is renewed every 3 s, and one that is kept all the time.
func TestRenewedByHand(t *testing.T) {
	spans := []cost.Span{{From: 0, Left: 1}, {From: 1.0 / 3, Left: 1}, {From: 2.0 / 3, Left: 1}}
	for _, c := range []struct {
		kept    bool
		fault   string
		length  time.Duration
		want    float64
		blocked time.Duration // on average, with holds of 6 s
	}{
		{false, "node-clock", 5900 * time.Millisecond, 0, 7500 * time.Millisecond},
		{false, "node-clock", 7 * time.Second, 4.5, 7500 * time.Millisecond}, // in the first 3 s of 4
		{true, "node-clock", 9 * time.Second, 0, 9 * time.Second},
		{true, "node-clock", 10 * time.Second, 6, 9 * time.Second},
		{true, "pause", 9 * time.Second, 0, 9 * time.Second},
		{true, "pause", 10 * time.Second, 6, 9 * time.Second},
	} {
		s, u := leased(1), shop()
		u.TTL = 9 * time.Second
		limit := study.Limit{Fault: c.fault, Answer: study.Limited, Holds: 0.65, Falls: 0.7}
		s.Lease.Spans = spans
		if c.kept {
			s.Lease = &cost.Lease{Spans: spans[:1], Kept: true}
			limit.Holds, limit.Falls = 1, 1.05
		}
		for i, l := range s.Limits {
			if l.Fault == c.fault {
				s.Limits[i] = limit
			}
		}
		got := s.Term(u, cost.Environment{}, cost.Cause{Fault: c.fault, PerYear: 3, Lengths: cost.Always(c.length)})
		if got.Unknown || math.Abs(got.Expected.Hi-c.want) > 1e-6 {
			t.Errorf("%s of %v, kept %t: %+v, want %v", c.fault, c.length, c.kept, got, c.want)
		}
		r := s.Recovery(u.TTL, cost.Always(6*time.Second))
		if r.Mean.Round(time.Microsecond) != c.blocked || r.Longest.Round(time.Microsecond) != u.TTL {
			t.Errorf("kept %t: blocked for %+v, want %v and %v", c.kept, r, c.blocked, u.TTL)
		}
	}
}

// A failover has no number without an answer of search, or when the lock keeps nobody out.
func TestNoNumberOfAFailover(t *testing.T) {
	cause := cost.Cause{Fault: "failover", PerYear: 3, Window: time.Second}
	unasked, open := leased(1), leased(1)
	unasked.Limits[3].Answer = study.NoAnswer
	open.Lease.Spans = nil
	for name, s := range map[string]*cost.Subject{"no answer": unasked, "no lease": open} {
		if got := s.Term(shop(), cost.Environment{}, cause); !got.Unknown || got.Expected != (cost.Interval{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := open.SlowTerm(shop()); !got.Unknown {
		t.Errorf("slow work without a lease: %+v", got)
	}
}

// A lost reply that leaves nothing behind does no harm.
func TestNoHarm(t *testing.T) {
	s := leased(5)
	s.Orphaned = verdict.Holds
	lost := cost.Cause{Fault: "lose-reply", PerYear: 0.5}
	if got := s.Term(shop(), cost.Environment{ID: "e", Causes: []cost.Cause{lost}}, lost); got.Expected != (cost.Interval{}) {
		t.Errorf("nothing is left behind: %+v", got)
	}
}

// As many locks may be held as there are machines; of lengths that are not known exactly
// the least count.
func TestCheckOrder(t *testing.T) {
	for _, c := range []struct{ key, value, machines, want string }{
		{"machines", "100", "", ""}, {"machines", "99", "", "100 holds"},
		{"hold", "p50=1s,p100=4s", "50", ""}, {"hold", "p50=1s,p100=4s", "49", "50 holds"}, {"acquisitions", "1000.4", "", "1000 holds"},
	} {
		o := cost.UsualRateOrder()
		err := o.Set(c.key, c.value)
		if c.machines != "" {
			err = errors.Join(err, o.Set("machines", c.machines))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
