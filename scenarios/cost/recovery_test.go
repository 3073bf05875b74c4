package cost

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator/effort"
)

func recoveryOf(t *testing.T, id string, ttl, hold time.Duration) Recovery {
	t.Helper()
	e, ok := algorithms.ByName(id)
	if !ok {
		t.Fatal(id)
	}
	o := RecoveryOrder{TTLs: []time.Duration{ttl}, Hold: hold}
	if err := o.Check(e); err != nil {
		t.Fatal(err)
	}
	all := racetest.Must(FindRecovery(t.Context(), []lock.Entry{e}, o, nil))(t)
	return all[0]
}

// What follows from how a lock works.
func TestRecovery(t *testing.T) {
	const ttl, hold, slack = 10 * time.Second, 4 * time.Second, 10 * time.Millisecond
	near := func(t *testing.T, what string, got, want time.Duration) {
		t.Helper()
		if (got - want).Abs() > slack {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	t.Run("token", func(t *testing.T) { // what is left of its lease: 10 s at first, 6 s at the end
		r := recoveryOf(t, "token", ttl, hold)
		near(t, "the mean", r.Mean(), 8*time.Second)
		near(t, "the longest", r.Longest(), ttl)
		near(t, "the median", r.Quantile(0.5), 8*time.Second)
		near(t, "the 90th percentile", r.Quantile(0.9), 9600*time.Millisecond)
		if r.Ever() != 0 {
			t.Errorf("%v of all crashes block for ever", r.Ever())
		}
	})
	t.Run("setnx", func(t *testing.T) {
		r := recoveryOf(t, "setnx", ttl, hold)
		if r.Mean() != Forever || r.Quantile(0.5) != Forever || r.Ever() < 0.99 || r.Ever() >= 1 {
			t.Errorf("%v of all crashes block for ever", r.Ever())
		}
	})
	t.Run("setnx-expire", func(t *testing.T) { // from SETNX to EXPIRE: a round trip
		r := recoveryOf(t, "setnx-expire", ttl, hold)
		if got, want := r.Ever()*float64(span(r)), float64(time.Millisecond); math.Abs(got-want) > want/10 {
			t.Errorf("it blocks for ever in %v of a run, want %v", time.Duration(got), time.Duration(want))
		}
	})
	t.Run("watchdog", func(t *testing.T) { // renewed after a third of a lease
		r := recoveryOf(t, "watchdog", ttl, 9*time.Second)
		near(t, "the longest", r.Longest(), ttl)
		// 10 s to 20/3 s, twice, for 10/3 s each, and to 23/3 s for the 7/3 s that are left
		near(t, "the mean", r.Mean(), 8463*time.Millisecond)
	})
}

func TestRecoveryOfPieces(t *testing.T) {
	r := Recovery{Pieces: []Piece{{From: 0, To: 2, First: 0, Last: 0}, {From: 2, To: 6, First: 8 * time.Second, Last: 4 * time.Second}, {From: 6, To: 8, First: Forever, Last: Forever}}}
	for d, want := range map[time.Duration]float64{0: 0.75, 4 * time.Second: 0.75, 6 * time.Second: 0.5, 8 * time.Second: 0.25, Forever - 1: 0.25} {
		if got := r.LongerThan(d); math.Abs(got-want) > 1e-9 {
			t.Errorf("longer than %v: %v, want %v", d, got, want)
		}
	}
	for p, want := range map[float64]time.Duration{0.2: 0, 0.5: 6 * time.Second, 0.75: 8 * time.Second, 0.8: Forever} {
		if got := r.Quantile(p); (got - want).Abs() > time.Millisecond {
			t.Errorf("quantile %v: %v, want %v", p, got, want)
		}
	}
	if r.Longest() != 8*time.Second || r.Ever() != 0.25 || r.Mean() != Forever {
		t.Errorf("%v, %v, %v", r.Longest(), r.Ever(), r.Mean())
	}
	if none := (Recovery{}); none.Mean() != 0 || none.LongerThan(0) != 0 || span(none) != 0 {
		t.Error("without pieces")
	}
}

// span returns the time for which the client uses the lock.
func span(r Recovery) time.Duration {
	if len(r.Pieces) == 0 {
		return 0
	}
	return r.Pieces[len(r.Pieces)-1].To - r.Pieces[0].From
}

func playOf(t *testing.T, id string, n int, l Load) WaitingResult {
	t.Helper()
	for _, p := range Policies() {
		if p.ID == id {
			r, err := PlayWaiting(t.Context(), p, n, l)
			if err != nil {
				t.Fatalf("%s with %d clients: %v", id, n, err)
			}
			return r
		}
	}
	t.Fatalf("there is no policy %s", id)
	return WaitingResult{}
}

// What follows from how each policy works.
func TestPolicies(t *testing.T) {
	effort.OnlyPushed(t, "it measures for seconds")
	effort.Unwatched(t, "one goroutine counts")
	l := UsualLoad()
	l.Most = 3000
	trip := 2*l.Latency + l.Service
	results := map[string]WaitingResult{}
	for _, p := range Policies() {
		r := playOf(t, p.ID, 50, l)
		if p.ID == "jitter" || p.ID == "pubsub" || p.ID == "line" {
			if again := playOf(t, p.ID, 50, l); !reflect.DeepEqual(r, again) {
				t.Errorf("%s: another run gives %+v, not %+v", p.ID, again, r)
			}
		}
		if !r.Cut && r.Entries != 10*LeastEntries || r.Throughput > 1/l.Hold.Seconds() || r.Load > 1 || r.Jain != nil && (*r.Jain < 1.0/50 || *r.Jain > 1+1e-9) {
			t.Errorf("%s: %+v", p.ID, r)
		}
		if r.Handover < l.Latency.Seconds() || r.HandoverP99 < r.Handover/2 {
			t.Errorf("%s: a handover of %v", p.ID, r.Handover)
		}
		results[p.ID] = r
	}
	if r := results["none"]; r.Load < 0.95 || r.Handover > 50*trip.Seconds() {
		t.Errorf("who does not rest keeps the server busy, and comes at once: %+v", r)
	}
	if r := results["fixed"]; r.Handover < 0.5e-3 || math.Abs(r.Commands-(50/l.Poll.Seconds())) > 300 {
		t.Errorf("a poll of %v: %+v", l.Poll, r)
	}
	if r := results["line"]; r.Herd > 1.01 || r.Overtaken > 1 || *r.Jain < 0.95 {
		t.Errorf("a line wakes one client, and keeps the order: %+v", r)
	}
	if r := results["pubsub"]; r.Herd < 10 {
		t.Errorf("a message wakes all: %+v", r)
	}
	if r := results["herd"]; r.Herd < 15 {
		t.Errorf("a change wakes all: %+v", r)
	}
	if r := results["queue"]; r.Overtaken > 1 {
		t.Errorf("a queue keeps the order: %+v", r)
	}
	if many := playOf(t, "herd", 51, l); !many.Skipped {
		t.Error("a herd of 51 was played")
	}
}

// One client alone pays its round trips and the server's time.
func TestOneAlone(t *testing.T) {
	l := UsualLoad()
	l.Entries = 0
	r := playOf(t, "fixed", 1, l)
	if r.Entries != 1 || r.Jain != nil || r.Herd != 0 || r.Overtaken != 0 {
		t.Errorf("%+v", r)
	}
	l.Entries, l.Hold = 100, 10*time.Millisecond
	r = playOf(t, "none", 1, l)
	if want := (2*l.Latency + l.Service).Seconds(); math.Abs(r.Release-want) > want/5 {
		t.Errorf("a release takes %v, want %v", r.Release, want)
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		text   string
		d      time.Duration
		lo, hi float64
	}{
		{"30s", 29 * time.Second, 1, 1}, {"30s", 30 * time.Second, 0, 0},
		{"p50=50ms,p99=300ms", 10 * time.Millisecond, 0.5, 1}, {"p50=50ms,p99=300ms", 100 * time.Millisecond, 0.01, 0.5},
		{"p50=50ms,p99=300ms", time.Hour, 0, 0.01}, {"p50=1s,p100=2s", 3 * time.Second, 0, 0},
	} {
		l := racetest.Must(ParseLengths(c.text))(t)
		got := l.LongerThan(c.d)
		if diff := func(a, b float64) bool { return a-b > 1e-9 || b-a > 1e-9 }; diff(got.Lo, c.lo) || diff(got.Hi, c.hi) {
			t.Errorf("%s: longer than %v are %v, want %g to %g", c.text, c.d, got, c.lo, c.hi)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"-3s", "-3s"}, {"soon", "soon"}, {"p50=1s,p40=2s", "p40=2s"}, {"p50=2s,p99=1s", "p99=1s"}, {"p101=1s", "p101=1s"},
		{"x50=1s", "x50=1s"}, {"p0=1s", "p0=1s"}, {"p50", "p50"}, {"p50=1s,,p99=2s", "p"},
		{"0s", "0s"}, {"p50=1s,p50=2s", "p50=2s"},
	} {
		if _, err := ParseLengths(c.text); err == nil || !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%s: %v, want it to name %s", c.text, err, c.want)
		}
	}
}

func TestParseOften(t *testing.T) {
	for s, want := range map[string]float64{"12/year": 12, "1/month": 12, "1/18months": 12.0 / 18, "3/day": 1095, "0/year": 0, "1/hour": 8760, "2/2weeks": 365.0 / 7} {
		if got, err := parseOften(s); err != nil || got-want > 1e-9 || want-got > 1e-9 {
			t.Errorf("%s is %g, %v, want %g", s, got, err, want)
		}
	}
	for _, s := range []string{"", "1", "-1/year", "1/fortnight", "x/year", "1/0years", "NaN/year", "1e99/year"} {
		if _, err := parseOften(s); err == nil {
			t.Errorf("%s was read", s)
		}
	}
}

func TestRateOrder(t *testing.T) {
	o := UsualRateOrder()
	for _, set := range [][2]string{{"machines", "50"}, {"acquisitions", "5"}, {"hold", "p50=1s,p100=4s"}, {"work", "waits"},
		{"contended", "0.3"}, {"ttl", "20s"}, {"ttls", "5s,20s,60s"}} {
		if err := o.Set(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	o.Environments = o.Environments[:1]
	for _, fault := range [][2]string{{"pause", "200/day 10ms"}, {"restart", "2/year"}} {
		if err := o.AddFault("own", fault[0], fault[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	if o.Machines != 50 || !o.Waits || o.Contended != 0.3 || o.TTL != 20*time.Second || len(o.TTLs) != 3 || len(o.Environments) != 2 ||
		len(o.Environments[1].Causes) != 2 || o.Environments[1].Causes[1].Window != Forever {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct{ setting, value, want string }{
		{"machines", "0", `"0"`}, {"machines", "2000000000", `"2000000000"`}, {"acquisitions", "0", `"0"`}, {"acquisitions", "2e9", `"2e9"`},
		{"ttls", "10s", `"10s" is one TTL`}, {"ttls", "10s,5s", `"5s" does not come after 10s`}, {"ttls", "5s,5s", `"5s" does not come after 5s`},
		{"hold", "p50=1s", "p100"}, {"contended", "1.5", "1.5"}, {"contended", "-0.1", `"-0.1"`}, {"work", "sleeps", "sleeps"},
		{"ttl", "0s", "0s"}, {"ttl", "999us", `"999us"`}, {"ttl", "1001h", `"1001h"`},
	} {
		o := UsualRateOrder()
		if err := o.Set(c.setting, c.value); err == nil || !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%s=%s: %v, want it to say %s", c.setting, c.value, err, c.want)
		}
	}
	for _, c := range []struct{ fault, value, want string }{
		{"pauze", "1/year 3s", "did you mean pause"}, {"pause", "-1/year 3s", "-1/year"}, {"pause", "1/year", "how long does it last"},
		{"failover", "1/year", "lag="}, {"failover", "1/year lag=-1s", "lag=-1s"}, {"crash", "1/year 3s", "3s"},
		{"lose-reply", "2", `"2"`}, {"lose-reply", "-0.1", `"-0.1"`}, {"lose-reply", "0.1 3s", `"0.1 3s"`},
	} {
		o := UsualRateOrder()
		if err := o.AddFault("own", c.fault, c.value); err == nil || !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%s=%s: %v, want it to say %s", c.fault, c.value, err, c.want)
		}
	}
}
