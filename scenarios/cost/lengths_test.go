package cost

import (
	"strings"
	"testing"
	"time"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
)

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
