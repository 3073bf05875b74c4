package study_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// ordered is the order of a sweep along axes.
func ordered(t *testing.T, runs int, axes ...string) study.SweepOrder {
	t.Helper()
	o := study.SweepOrder{Runs: runs}
	for _, arg := range axes {
		a := racetest.Must(study.ParseAxis(arg))(t)
		o.Axes = append(o.Axes, a)
	}
	return o
}

// swept plays a sweep with settings.
func swept(t *testing.T, o study.SweepOrder, set string, entries ...lock.Entry) *study.Sweep {
	t.Helper()
	var err error
	if o.Fixed, o.Lease, err = study.ParseValues(set); err != nil {
		t.Fatal(err)
	}
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := o.Check(e); err != nil {
			t.Fatal(err)
		}
	}
	// As many steps as were announced.
	var announced, told atomic.Int64
	s, err := o.Find(t.Context(), entries, func(steps int) (*share.Work, func()) {
		announced.Add(int64(steps))
		return &share.Work{Done: func(int) { told.Add(1) }}, func() {}
	})
	if err != nil || told.Load() != announced.Load() {
		t.Fatalf("told of %d steps, announced were %d: %v", told.Load(), announced.Load(), err)
	}
	return s
}

// TestSweepSettings: what follows from the meaning of each setting, where a few runs are certain.
func TestSweepSettings(t *testing.T) {
	const n = 9
	never, always := 0, n
	for _, c := range []struct {
		axis, set, lock string
		want            []int // -1: some
	}{
		{"pause=0s,20s", "", "token", []int{never, always}},
		{"pause/ttl=0,2", "ttl=1s", "token", []int{never, always}},
		{"ttl=5s,60s", "pause=8s,work=1s", "token", []int{always, never}},
		{"skew/ttl=-1,0,2", "retry=100ms", "getset", []int{never, never, always}},
		{"skew/ttl=-1,0,2", "retry=100ms", "token", []int{never, never, never}},
		// A clock that loses a fifth lets its owner stay a quarter of a lease too long: the other asks each second.
		{"client-rate=-20%,0%,20%", "work=lease", "token", []int{always, never, never}},
		{"client-rate=-20%,0%,20%", "work=lease", "redlock-drift", []int{always, never, never}},
		{"node-rate=-20%,0%,20%", "work=lease", "token", []int{never, never, always}},
		// Any skew, as long as both clocks run at the same rate: who times his own lease does not compare clocks.
		{"skew/ttl=-2,0,2", "work=lease", "token", []int{never, never, never}},
		// As by search: what is left of a lease after the usual work is three fifths, or two thirds with a renewal.
		{"pause/ttl=0.59,0.7", "", "token", []int{never, always}},
		{"pause/ttl=0.66,1", "", "watchdog", []int{never, -1}},
		{"work/ttl=0.5,2", "", "token", []int{never, always}},
		{"work/ttl=0.5,2", "", "watchdog", []int{never, never}},
		{"renewal/ttl=0.4,0.95", "pause/ttl=0.3,work=40s", "redlock-extend", []int{never, -1}},
		{"loss=0%,100%", "", "token", []int{never, never}}, // who hears nothing is not orphaned: it never got a key
		{"lag=0s,30s", "work=5s,retry=10ms", "token", []int{never, always}},
		{"crash=0,720", "work=5s", "setnx", []int{never, -1}},
		// Of eight messages of c1 one is the write, over that of c2.
		{"delay/ttl=0,2", "work=5s", "token", []int{never, -1}},
		{"clients=2,8", "pause/ttl=2", "token", []int{always, always}},
		{"retry=100ms,1s", "pause/ttl=2", "token", []int{always, always}},
	} {
		t.Run(c.axis+"/"+c.set+"/"+c.lock, func(t *testing.T) {
			s := swept(t, ordered(t, n, c.axis), c.set, locks(t, c.lock)...)
			for i, p := range s.Series[0].Points {
				if p.N != n || c.want[i] >= 0 && p.K != c.want[i] || c.want[i] == -1 && p.K == 0 {
					t.Errorf("at %v: %d of %d, want %d", p.At, p.K, p.N, c.want[i])
				}
			}
		})
	}
}

// TestSweepOfPauses: a pause shorter than any lease does no harm. One of two leases is longer than what is left of any
// lease, and than the longest renewal margin; a lock without a lease cannot be lost by waiting. A longer pause covers a
// shorter one, since the random moments are the same for each length.
func TestSweepOfPauses(t *testing.T) {
	const n = 18
	s := swept(t, ordered(t, n, "pause/ttl=0,0.25,0.5,1,1.5,2"), "", algorithms.Milestones()...)
	for l, e := range algorithms.Milestones() {
		points, want := s.Series[l].Points, n
		if e.Expiry == lock.ExpiryNone {
			want = 0
		}
		if first, last := points[0].K, points[len(points)-1].K; first != 0 || last != want {
			t.Errorf("%s: %d of %d runs overlap without a pause, and %d at one of two leases, want 0 and %d",
				e.ID, first, n, last, want)
		}
		for i, p := range points[1:] {
			if p.N != n || p.K < points[i].K || p.K > want {
				t.Errorf("%s: %d of %d runs overlap at %v, and %d of %d at %v",
					e.ID, points[i].K, n, points[i].At, p.K, p.N, p.At)
			}
		}
	}
	if token := s.Series[3].Points; token[2].K != 0 || token[3].K != n {
		t.Errorf("token: %d of %d at half a lease, %d at a whole one: work and a pause of three fifths fill a lease",
			token[2].K, n, token[3].K)
	}
}

// TestWorkDuringPause: after work of 4 s in a lease of 10 s, a pause of 7 s that delays what is left of the work
// outlives the lease, whenever it begins, and one of 5 s never. Work that goes on elsewhere outlives it only where the
// pause ends after the lease: if it begins in the last of the four seconds.
func TestWorkDuringPause(t *testing.T) {
	at := func(waits bool) []study.SweepPoint {
		o := ordered(t, 900, "pause/ttl=0.5,0.7")
		o.Waits = waits
		return swept(t, o, "", locks(t, "token")...).Series[0].Points
	}
	if p := at(false); p[0].K != 0 || p[1].K != 900 {
		t.Errorf("the work computes: %d and %d of 900 runs with an overlap, want none and all", p[0].K, p[1].K)
	}
	if p := at(true); p[0].K != 0 || p[1].K < 180 || p[1].K > 270 { // a quarter
		t.Errorf("the work goes on: %d and %d of 900 runs with an overlap, want none and 180 to 270", p[0].K, p[1].K)
	}
}

// TestSweepIsDeterministic: a sweep does not depend on the number of cores, on how tasks divide the runs, or on what
// other values are looked at.
func TestSweepIsDeterministic(t *testing.T) {
	var first *study.Sweep
	for _, procs := range []int{1, 2} {
		onProcs(procs, func() {
			s := swept(t, ordered(t, 18, "pause/ttl=0.4:1:0.2", "lag=0s,1s"), "", locks(t, "token", "zk-recheck")...)
			if first == nil {
				first = s
			}
			if !reflect.DeepEqual(s.Series, first.Series) {
				t.Errorf("%d processors change the counts", procs)
			}
		})
	}
	if first.Series[1].NA == "" || len(first.Series[1].Points) != 0 {
		t.Errorf("a failover of a ZooKeeper: %+v", first.Series[1])
	}
	alone := swept(t, ordered(t, 18, "lag=1s"), "pause/ttl=0.6", locks(t, "token")...)
	i := slices.IndexFunc(first.Series[0].Points, func(p study.SweepPoint) bool {
		return math.Abs(p.At[0]-0.6) < 1e-9 && p.At[1] == 1
	})
	if i < 0 || first.Series[0].Points[i].K != alone.Series[0].Points[0].K {
		t.Errorf("alone %+v, in a map %+v", alone.Series[0].Points, first.Series[0].Points)
	}
}

func TestSweepErrors(t *testing.T) {
	for arg, want := range map[string]string{
		"skw": "skew", "ttl/ttl": "ttl", "loss/ttl": "loss",
		"pause=0:1": "0:1", "pause=x": "length", "pause=-1s": "-1s", "pause/ttl=2:1:1": "TO", "pause/ttl=2,1": "1",
		"client-rate=5": "ppm", "client-rate=60%": "60%", "clients=9": "9", "clients=2.5": "2.5",
		"loss=2": "100%", "ttl=0s": "0s", "retry=0s:1s:100ms": "0s", "renewal/ttl=0,1": "0", "pause": "pause/ttl",
		"crash=x": "crash", "pause/ttl=nan": "nan",
	} {
		if _, err := study.ParseAxis(arg); err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%s: %v, want %q in it", arg, err, want)
		}
	}
	for _, set := range []string{"pause", "pause=1s,pause=2s", "pause=1s:2s:1s", "nothing=1"} {
		if _, _, err := study.ParseValues(set); err == nil {
			t.Errorf("%s was read", set)
		}
	}
	twice, leased := ordered(t, 1, "pause/ttl", "pause/ttl"), ordered(t, 1, "renewal/ttl")
	leased.Lease = true
	for _, o := range []study.SweepOrder{{}, twice, leased} {
		if err := o.Complete(); err == nil {
			t.Errorf("%+v goes together", o)
		}
	}
	o := ordered(t, 1, "ttl=1500ms")
	o.Words = []verdict.Word{verdict.Overlap}
	if err := o.Check(locks(t, "setnx-expire")[0]); err == nil || !strings.Contains(text.SayError("en", err), "1.5s") {
		t.Errorf("setnx-expire cannot express 1.5 s: %v", err)
	}
}

// TestWilson: R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
// Statistics in Medicine 17 (1998), table I, method 3.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{0, 1000, 0, 0.0038},
		{1000, 1000, 0.9962, 1},
		{0, 0, 0, 1},
		{9, 3, 0.4385, 1}, // no more than all
	} {
		lo, hi := study.Wilson(c.k, c.n)
		if math.Abs(lo-c.lo) > 5e-5 || math.Abs(hi-c.hi) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f, %.4f, want %.4f, %.4f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}
