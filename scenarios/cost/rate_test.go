package cost_test

import (
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
)

func limited(holds, falls float64) study.Limit {
	return study.Limit{Answer: study.Limited, Holds: holds, Falls: falls}
}

var noLimit = study.Limit{Answer: study.NoLimit, Holds: study.MaxLeases}

// limitsOf are those that search finds for the milestones (cmd/locklab's goldens have them); they are copied so that
// these tests need no search.
func limitsOf(locks []lock.Entry) *study.Tolerance {
	known := map[string]study.Limit{"setnx": noLimit, "setnx-expire": limited(0.55, 0.6), "getset": limited(0.55, 0.6),
		"token": limited(0.55, 0.6), "watchdog": limited(0.65, 0.7), "redlock": limited(0.55, 0.6)}
	t := &study.Tolerance{Locks: locks, Hazards: []study.Hazard{{Fault: "client-clock"}, {Fault: "pause"}}}
	for _, e := range locks {
		t.Limits = append(t.Limits, study.Limit{}, known[e.ID])
	}
	return t
}

// subjects are the milestones, by name.
func subjects(t *testing.T) map[string]cost.Subject {
	t.Helper()
	r := racetest.Must(cost.FindRates(t.Context(), cost.RateOrder{}, limitsOf(algorithms.Milestones())))(t)
	out := map[string]cost.Subject{}
	for _, s := range r.Subjects {
		out[s.Lock] = s
	}
	return out
}

// pauses are those of a source.
func pauses(t *testing.T, often, lengths string) cost.Source {
	t.Helper()
	return racetest.Must(cost.ParseSource(often + " " + lengths))(t)
}

// TestSanity: of 1,000 machines each holds a contended lease of 10 s for a tenth of the time, and stops for 30 s once
// in 18 months: 1000 x 12/18 x 0.1 times a year a pause strikes a hold. A lease of 60 s outlasts each.
func TestSanity(t *testing.T) {
	all := subjects(t)
	for _, c := range []struct {
		lock string
		ttl  time.Duration
		want float64
	}{
		{"token", 10 * time.Second, 66.67}, {"token", 60 * time.Second, 0},
		{"watchdog", 10 * time.Second, 66.67}, {"watchdog", 60 * time.Second, 0},
		{"redlock", 10 * time.Second, 66.67}, {"setnx", 10 * time.Second, 0},
	} {
		u := cost.UsualRateOrder().Usage
		u.TTL = c.ttl
		b := all[c.lock].Bound(u, cost.Sources()[0])
		if b.AtMost == nil || math.Abs(*b.AtMost-c.want) > 0.01 || b.Slow != 0 {
			t.Errorf("%s, %v: %+v, want %g", c.lock, c.ttl, b, c.want)
		}
	}
}

// leased is a lock with a lease that is made by hand.
func leased(kept bool, limit study.Limit, spans ...cost.Span) cost.Subject {
	return cost.Subject{Lock: "leased", Lease: cost.Lease{Spans: spans, Kept: kept}, Limit: limit}
}

// shop has eight holds of 4 s at any moment, a quarter of them contended.
func shop(ttl time.Duration) cost.Usage {
	return cost.Usage{Machines: 10, PerSecond: 2, Work: 4 * time.Second, Contended: 0.25, TTL: ttl}
}

// TestBoundsByHand: three pauses a year strike eight holds, a quarter of them contended: six in all, of which those
// count that the lease does not survive.
func TestBoundsByHand(t *testing.T) {
	once, renewed := []cost.Span{{From: 0, Left: 1}},
		[]cost.Span{{From: 0, Left: 1}, {From: 1.0 / 3, Left: 1}, {From: 2.0 / 3, Left: 1}}
	for name, c := range map[string]struct {
		subject  cost.Subject
		ttl      time.Duration
		lengths  string
		want     float64
		shortest time.Duration
	}{
		"in the second half": {leased(false, limited(0.55, 0.6), once...), 10 * time.Second, "8s", 3, 6 * time.Second},
		"percentiles": {leased(false, limited(0.55, 0.6), once...), 10 * time.Second, "p50=1s,p90=8s", 0.4*3 +
			0.1*6, 6 * time.Second},
		"renewed": {leased(false, limited(0.65, 0.7), renewed...), 9 * time.Second, "7s", 6.0 / 4,
			6 * time.Second},
		"a session": {leased(true, limited(1, 1.05), once...), 9 * time.Second, "10s", 6, 9 * time.Second},
		"without end": {leased(false, noLimit, cost.Span{Left: math.Inf(1)}), 9 * time.Second, "99h", 0,
			cost.Forever},
		"search has not asked": {leased(false, study.Limit{}, once...), 10 * time.Second, "8s", -1, 0},
		"earlier":              {leased(false, limited(0.3, 0.35), once...), 10 * time.Second, "8s", -1, 0},
		"at any size": {leased(false, study.Limit{Answer: study.AnySize, Falls: 0.05}, once...), 10 * time.Second,
			"8s", -1, 0},
		"never":                  {leased(false, noLimit, once...), 10 * time.Second, "8s", -1, 0},
		"it ends with its owner": {leased(false, noLimit, cost.Span{}), 10 * time.Second, "8s", -1, 0},
		"it was not measured":    {leased(false, noLimit), 10 * time.Second, "8s", -1, 0},
	} {
		b := c.subject.Bound(shop(c.ttl), pauses(t, "3/year", c.lengths))
		switch {
		case c.want < 0 && b.AtMost != nil, c.want >= 0 && (b.AtMost == nil || math.Abs(*b.AtMost-c.want) > 1e-6):
			t.Errorf("%s: %+v, want %v a year", name, b, c.want)
		case c.want >= 0 && b.Shortest != cost.Forever && (b.Shortest-c.shortest).Abs() > time.Millisecond,
			c.want >= 0 && (b.Shortest == cost.Forever) != (c.shortest == cost.Forever):
			t.Errorf("%s: harm from %v on, want %v", name, b.Shortest, c.shortest)
		}
	}
}

// TestSlowWork: work that takes longer than the lease breaks the lock each time that another client waits, unless the
// lease is kept as a session is. As many locks may be held as there are machines.
func TestSlowWork(t *testing.T) {
	const aYear = 365 * 24 * 3600
	for _, c := range []struct {
		work time.Duration
		kept bool
		want float64
	}{{10 * time.Second, false, 0}, {10*time.Second + 1, false, aYear / 2}, {20 * time.Second, true, 0}} {
		s, u := leased(c.kept, limited(0.55, 0.6), cost.Span{Left: 1}), shop(10*time.Second)
		if u.Work = c.work; c.kept {
			s.Limit = limited(1, 1.05)
		}
		if b := s.Bound(u, pauses(t, "0/year", "1s")); b.AtMost == nil || *b.AtMost != c.want || b.Slow != c.want {
			t.Errorf("work of %v, kept %t: %+v, want %v", c.work, c.kept, b, c.want)
		}
	}
	u := cost.UsualRateOrder().Usage
	if u.Machines = 100; u.Check() != nil {
		t.Error(u.Check())
	}
	if u.Machines = 99; u.Check() == nil || !strings.Contains(text.SayError("en", u.Check()), "100 holds") {
		t.Error("99 machines hold 100 locks")
	}
}

// TestBlocked: what a crash costs, by the lease: as much as is left of it, on average.
func TestBlocked(t *testing.T) {
	for name, c := range map[string]struct {
		subject       cost.Subject
		work          time.Duration
		mean, longest time.Duration
	}{
		"a lease": {leased(false, noLimit, cost.Span{Left: 1}), 4 * time.Second, 7 * time.Second, 9 * time.Second},
		"longer work": {leased(false, noLimit, cost.Span{Left: 1}), 18 * time.Second, 2250 * time.Millisecond,
			9 * time.Second},
		"renewed": {leased(false, noLimit, cost.Span{Left: 1}, cost.Span{From: 1.0 / 3, Left: 1},
			cost.Span{From: 2.0 / 3, Left: 1}), 6 * time.Second, 7500 * time.Millisecond, 9 * time.Second},
		"a session": {leased(true, noLimit, cost.Span{Left: 1}), 6 * time.Second, 9 * time.Second, 9 * time.Second},
		"without end": {leased(false, noLimit, cost.Span{Left: math.Inf(1)}), 6 * time.Second, cost.Forever,
			cost.Forever},
		"it dies with it":    {leased(false, noLimit, cost.Span{}), 6 * time.Second, 0, 0},
		"it is not measured": {leased(false, noLimit), 6 * time.Second, cost.Unmeasured, cost.Unmeasured},
	} {
		b := c.subject.Lease.Blocked(9*time.Second, c.work)
		if (b.Mean-c.mean).Abs() > time.Microsecond || (b.Longest-c.longest).Abs() > time.Microsecond {
			t.Errorf("%s: %v, want %v and %v", name, b, c.mean, c.longest)
		}
	}
}

// TestRecovery: the blockage that the lease says is that of the runs, whatever the work.
func TestRecovery(t *testing.T) {
	locks := []lock.Entry{racetest.Lock(t, "setnx"), racetest.Lock(t, "token"), racetest.Lock(t, "watchdog")}
	all := racetest.Must(cost.FindRecovery(t.Context(), locks, cost.RecoveryOrder{TTL: 10 * time.Second}, nil))(t)
	want := map[string]time.Duration{"setnx": cost.Forever, "token": 7500 * time.Millisecond,
		"watchdog": 8611 * time.Millisecond}
	n := 0
	for _, r := range all {
		if r.Work == 5*time.Second {
			n++
			if (r.Mean - want[r.Lock]).Abs() > 10*time.Millisecond {
				t.Errorf("%+v, want %v", r, want[r.Lock])
			}
		}
	}
	if n != len(want) || len(all) != 60 {
		t.Errorf("%d of %d", n, len(all))
	}
	if err := (cost.RecoveryOrder{TTL: 1500 * time.Millisecond}).Check(racetest.Lock(t, "setnx-expire")); err == nil {
		t.Error("EXPIRE of one and a half seconds")
	}
}

// TestParseSource: what is read of a source, and what is named where it cannot be.
func TestParseSource(t *testing.T) {
	for often, want := range map[string]float64{"12/year": 12, "1/month": 12, "1/18months": 12.0 / 18, "3/day": 1095,
		"0/year": 0, "1/hour": 8760, "2/2weeks": 365.0 / 7} {
		s, err := cost.ParseSource(often + " 3s")
		if err != nil || math.Abs(s.PerYear-want) > 1e-9 || s.ID != often+" 3s" {
			t.Errorf("%s: %+v, %v, want %g", often, s, err, want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", `""`}, {"-1/year 3s", "-1/year"}, {"1/fortnight 3s", "fortnight"}, {"x/year 3s", "x/year"},
		{"1/0years 3s", "0years"},
		{"NaN/year 3s", "NaN"}, {"1e99/year 3s", "1e99"}, {"1/year", "1/year"}, {"1/year soon", "soon"},
		{"1/year 0s", "0s"}, {"1/year p50=1s,p40=2s", "p40=2s"}, {"1/year p50=2s,p99=1s", "p99=1s"},
		{"1/year p101=1s", "p101=1s"}, {"1/year p0=1s", "p0=1s"}, {"1/year x50=1s", "x50=1s"},
		{"1/year p50=1s,,p99=2s", `""`},
	} {
		if _, err := cost.ParseSource(c.text); err == nil || !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%s: %v, want it to name %s", c.text, err, c.want)
		}
	}
}
