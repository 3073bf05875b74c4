package cost

import (
	"strings"
	"testing"
	"time"

	"locklab/reports/text"
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
		l, err := ParseLengths(c.text)
		if err != nil {
			t.Fatal(err)
		}
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

func TestReadLengths(t *testing.T) {
	const log = `[0.005s][info][gc] Using G1
[1.234s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->5M(256M) 3.456ms
[2.234s][info][gc] GC(1) Concurrent Mark Cycle 12.000ms
[3.234s][info][gc] GC(2) Pause Full (System.gc()) 24M->5M(256M) 123.000ms
`
	l, err := ReadLengths("gc.log", []byte(log))
	if err != nil || l.samples != 2 || l.Longest() != 123*time.Millisecond {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = ReadLengths("gc.log", []byte("2020-01-01: 1.0: Total time for which application threads were stopped: 0.0125 seconds, Stopping threads took: 0.0001 seconds\n"))
	if err != nil || l.Longest() != 12500*time.Microsecond {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = ReadLengths("gc.log", []byte("[1.2s][info][safepoint] Safepoint \"G1\", Time since last: 5 ns, Reaching safepoint: 6 ns, At safepoint: 7 ns, Total: 8000000 ns\n"))
	if err != nil || l.Longest() != 8*time.Millisecond {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = ReadLengths("lengths", []byte("# two\n10ms\n\n20ms\n"))
	if err != nil || l.samples != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	// None of two samples is longer than 50 ms: that is a bound, and no zero.
	if got := l.LongerThan(50 * time.Millisecond); got.Lo != 0 || got.Hi < 0.5 {
		t.Errorf("of two samples none is longer: %v", got)
	}
	for _, c := range []struct{ content, want string }{
		{"10ms\nten\n", "f:2"}, {"10ms\n-1ms\n", "f:2"}, {"", "f"}, {"[x] nothing\n", "f"}, {"garbage\n", "f:1"},
		{"10ms\n[x\n", "f:2"}, {"10ms\n" + strings.Repeat("x", 2<<20), "f"},
	} {
		if _, err := ReadLengths("f", []byte(c.content)); err == nil || !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%q: %v, want it to name %s", c.content, err, c.want)
		}
	}
}

// Many samples are put into groups, whose ends bound what is computed from all of them.
func TestGroups(t *testing.T) {
	var content strings.Builder
	for i := range 3000 {
		content.WriteString(time.Duration((i+1)*int(time.Millisecond)).String() + "\n")
	}
	l, err := ReadLengths("f", []byte(content.String()))
	if err != nil || len(l.atoms) > mostAtoms {
		t.Fatal(len(l.atoms), err)
	}
	share := l.Mean(func(d time.Duration) float64 {
		if d > 2*time.Second {
			return 1
		}
		return 0
	})
	if want := 1.0 / 3; share.Lo > want+1e-9 || share.Hi < want-1e-9 || share.Hi-share.Lo > 0.01 {
		t.Errorf("%v, want it to hold %g", share, want)
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

func TestReadOrder(t *testing.T) {
	read := func(name string) ([]byte, error) { return []byte("10ms\n20ms\n"), nil }
	o := UsualRateOrder()
	const file = `machines = 50   # of the shop
acquisitions = 5
hold = p50=1s,p100=4s
work = waits
contended = 0.3
ttl = 20s
ttls = 5s,20s,60s
[azure]
[gc]
pause = 200/day gc.log
restart = 2/year
`
	if err := o.Read("shop.rate", file, read); err != nil {
		t.Fatal(err)
	}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	if o.Machines != 50 || !o.Waits || o.Contended != 0.3 || o.TTL != 20*time.Second || len(o.TTLs) != 3 || len(o.Environments) != 2 ||
		len(o.Environments[1].Causes) != 2 || o.Environments[1].Causes[0].Lengths.samples != 2 || o.Environments[1].Causes[1].Window != Forever {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct{ file, want string }{
		{"machines = 0\n", `shop.rate:1: machines = 0: "0"`}, {"\nttls = 10s\n", `shop.rate:2: ttls = 10s: "10s" is one TTL`},
		{"ttls = 10s,5s", `"5s" does not come after 10s`}, {"machine = 3", "did you mean machines"}, {"[azure]\n[azure]", "shop.rate:2"},
		{"[azure]\npause = 1/year 3s", "shop.rate:2"}, {"[x]\npauze = 1/year 3s", "did you mean pause"}, {"[x]\npause = -1/year 3s", "-1/year"},
		{"[x]\npause = 1/year", "how long does it last"}, {"[X]\n", "shop.rate:1"}, {"hello", "shop.rate:1: hello"},
		{"hold = p50=1s", "p100"}, {"contended = 1.5", "1.5"}, {"work = sleeps", "sleeps"}, {"ttl = 0s", "0s"},
		{"[x]\nfailover = 1/year", "lag="}, {"[x]\nlose-reply = 2", `"2"`}, {"[x]\ncrash = 1/year 3s", "3s"},
		{"machines = 2000000000", `"2000000000"`}, {"acquisitions = 0", `"0"`}, {"acquisitions = 2e9", `"2e9"`}, {"contended = -0.1", `"-0.1"`},
		{"ttl = 999us", `"999us"`}, {"ttl = 1001h", `"1001h"`}, {"ttls = 5s,5s", `"5s" does not come after 5s`},
		{"[x]\nfailover = 1/year lag=-1s", "lag=-1s"}, {"[x]\nlose-reply = -0.1", `"-0.1"`}, {"[x]\nlose-reply = 0.1 3s", `"0.1 3s"`},
	} {
		o := UsualRateOrder()
		if err := o.Read("shop.rate", c.file, read); err == nil || !strings.Contains(text.SayError("en", err), c.want) {
			t.Errorf("%q: %v, want it to say %s", c.file, err, c.want)
		}
	}
	o = UsualRateOrder()
	o.Machines = 10
	if err := o.Check(); err == nil || !strings.Contains(text.SayError("en", err), "100 holds") {
		t.Errorf("ten machines hold 100 locks: %v", err)
	}
	o = UsualRateOrder()
	if err := o.Read("f", "[empty]\n", read); err != nil {
		t.Fatal(err)
	}
	if err := o.Check(); err == nil || !strings.Contains(text.SayError("en", err), "empty") {
		t.Errorf("an environment without faults: %v", err)
	}
}
