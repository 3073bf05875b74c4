package race_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
)

// everything has no zero, so that With accepts every setting.
func everything() race.Settings {
	return race.Settings{
		Seed: 7, TTL: time.Second, Clients: 2, Retry: time.Second, Latency: time.Millisecond, Timeout: time.Second,
		Idle:    time.Hour,
		Horizon: time.Minute, Pause: time.Second, Skew: time.Second, Jump: time.Second, Lag: time.Second,
		Drift: time.Second, Budget: "crash=1,pause=2@5s", Epoch: 1_000_000_000_000,
	}
}

// TestSettingsRoundTrip: With reads what String writes; traces depend on it.
func TestSettingsRoundTrip(t *testing.T) {
	for _, sc := range scenarios.All() {
		if got, err := sc.Settings.With(sc.Settings.String()); err != nil || got != sc.Settings {
			t.Errorf("%s: %v read back is %v, %v", sc.ID, sc.Settings, got, err)
		}
	}
	v := reflect.ValueOf(everything())
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).IsZero() {
			t.Errorf("everything() lacks %s", name)
		}
		if !strings.Contains(","+everything().String(), ","+strings.ToLower(name)+"=") {
			t.Errorf("%s is not written: %s", name, everything())
		}
	}
	if got, err := (race.Settings{Pause: 1, Skew: 1, Jump: 1, Lag: 1, Drift: 1, TTL: 1, Retry: 1, Latency: 1,
		Horizon: 1}).With(everything().String()); err != nil || got != everything() {
		t.Errorf("%v read back is %v, %v", everything(), got, err)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("ttl=5s,clients=3,budget=crash=1+pause=2@5s")
	f.Add(" seed = 18446744073709551615 , lag=1h2m3.4s")
	f.Add("budget=,pause=-1ns,timeout=0")
	f.Add("clients=-9223372036854775808,skew=2562047h47m16.854775807s")
	_, gcPause := racetest.Cell(f, "token", "gc-pause")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := everything().With(text)
		if err != nil {
			if s != everything() {
				t.Errorf("%q is refused (%v), and yet changes %v to %v", text, err, everything(), s)
			}
			return
		}
		again, err := everything().With(s.String())
		if s.Budget == "" {
			again.Budget = "" // no budget is not written
		}
		if err != nil || again != s {
			t.Errorf("%q gives %v, read back %v, %v", text, s, again, err)
		}
		for _, e := range algorithms.Milestones() { // must not panic, whatever the numbers
			if err := gcPause.Check(e, s); err != nil && err.Error() == "" {
				t.Errorf("%q: refused without a message", text)
			}
		}
	})
}

// TestRefusals: each error names the value and what would be accepted.
func TestRefusals(t *testing.T) {
	for _, f := range []struct{ lock, raceID, set, value, next string }{
		{"token", "gc-pause", "ttl=0s", "ttl=0s", "for example ttl=10s"},
		{"token", "gc-pause", "pause=-1s", "pause=-1s is negative", "give a length from 0"},
		{"token", "gc-pause", "clients=0", "clients=0", "give 1 to 8"},
		{"token", "gc-pause", "clients=many", `setting "clients=many"`, "whole number, such as 3"},
		{"token", "gc-pause", "seed=-1", `setting "seed=-1"`, "a whole number from 0"},
		{"token", "gc-pause", "pausse=3s", `setting "pausse=3s": there is no setting "pausse"`, "did you mean pause?"},
		{"token", "gc-pause", "skew=3s", `setting "skew=3s"`, "this race has no skew"},
		{"token", "gc-pause", "pause=9", `setting "pause=9"`, "such as 1500ms, 10s or 2m"},
		{"token", "gc-pause", "pause", `setting "pause"`, "write name=value"},
		{"token", "gc-pause", "horizon=0s", "horizon=0s", "give for example horizon=1m"},
		{"token", "gc-pause", "horizon=29s", "horizon=29s is less than three leases of 10s",
			"give at least horizon=30s"},
		{"token", "gc-pause", "idle=8h", "idle=8h: token is kept by no session of a database", "take db-for-update"},
		{"db-row", "gc-pause", "idle=8h", "db-row is kept by no session", "Leave it out"},
		{"token", "gc-pause", "budget=crash=1", `budget "crash=1" allows pause 0 times, gc-pause needs 1`,
			"give at least pause=1"},
		{"token", "gc-pause", "budget=pause=1@5s", `budget "pause=1@5s" allows pause up to 5s, and here it takes 12.5s`,
			"give pause=1@12.5s"},
		{"token", "clock-jump", "budget=node-clock=1@1s+client-clock=1",
			"allows node-clock up to 1s, and here it takes 11s", "give node-clock=1@11s"},
		{"token", "gc-pause", "budget=pause=256", `"256" is no number of times`, "from 0 to 255"},
		{"setnx-expire", "gc-pause", "ttl=1500ms", "ttl=1.5s is not a whole multiple of 1s", "ttl=2s"},
		{"setnx", "gc-pause", "ttl=1us", "ttl=1µs", "give at least 1ms"},
		// Numbers that no run can have.
		{"token", "gc-pause", "ttl=9999h", "horizon=1m is less than three leases of 9999h",
			"give at least horizon=29997h"},
		{"token", "gc-pause", "ttl=9999h,horizon=29997h", "too long for 2 clients that come back every 1s",
			"give at most horizon=1h23m20s, or longer ttl and retry"},
		{"token", "gc-pause", "ttl=2562047h,horizon=2562047h", "ttl=2562047h is more than a run can carry",
			"give at most 50000h"},
		{"token", "gc-pause", "horizon=10h", "horizon=10h is too long", "give at most horizon=1h23m20s"},
		{"token", "gc-pause", "retry=1ns", "come back every 1ns", "give at most horizon=5µs"},
	} {
		e, sc := racetest.Cell(t, f.lock, f.raceID)
		s, err := sc.Settings.With(f.set)
		if err == nil {
			_, err = race.Play(e, sc, s)
		}
		if err == nil {
			t.Errorf("%s in %s with %s is not refused", f.lock, f.raceID, f.set)
			continue
		}
		for _, part := range []string{f.value, f.next} {
			if !strings.Contains(text.SayError("en", err), part) {
				t.Errorf("%s in %s with %s: the error does not say %q: %v", f.lock, f.raceID, f.set, part, err)
			}
		}
	}
}

// TestExtremesEnd: extreme settings that are allowed give a run that ends with a verdict, in every race that has the
// setting, of locks that compute with times in different ways: with a clock, with timers, with elapsed time.
func TestExtremesEnd(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	var runner race.Runner
	for _, set := range []string{
		"clients=1", "clients=8,ttl=1s,horizon=5s", "seed=18446744073709551615",
		"latency=0s", "latency=50000h,ttl=1s,horizon=5s", "latency=2s,timeout=1s,ttl=1s,horizon=9s",
		"timeout=1ns,ttl=1s,horizon=5s", "timeout=50000h", "retry=50000h", "ttl=1s,horizon=3s",
		"ttl=10000h,horizon=30000h,retry=1000h",
		"pause=0s", "pause=50000h", "skew=50000h", "jump=0s", "jump=50000h", "lag=0s", "lag=1ns", "lag=50000h",
	} {
		name, _, _ := strings.Cut(set, "=")
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			for _, sc := range scenarios.All() {
				s, err := sc.Settings.With(set)
				if err != nil && strings.Contains(text.SayError("en", err), "this race has no "+name) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range []string{"getset", "watchdog", "redlock"} {
					if o, err := runner.Play(racetest.Lock(t, id), sc, s); err != nil || len(o.Verdicts) == 0 {
						t.Errorf("%s in %s: no verdict, %v", id, sc.ID, err)
					}
				}
			}
		})
	}
}

// TestLongestRun: the longest run that is not refused, of a lock that refuses and renews
// until the end, fits into memory.
func TestLongestRun(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	t.Parallel()
	const most = 100_000 // choices; a run of so many takes some 30 MB
	e, sc := racetest.Cell(t, "watchdog", "dead-business")
	s := racetest.Must(sc.Settings.With("ttl=5s,horizon=20s,retry=16ms,clients=8"))(t)
	if n := len(racetest.Must(race.Play(e, sc, s))(t).Trace.Choices); n > most || n < most/4 {
		t.Errorf("%d choices, want many, and at most %d", n, most)
	}
}

// TestNamesAreFound by ID, race and article, in any case of letters; the error for a wrong
// name suggests the nearest.
func TestNamesAreFound(t *testing.T) {
	for _, sc := range scenarios.All() {
		for _, name := range []string{sc.ID, sc.Code, strings.ToUpper(sc.ID), strings.ToLower(sc.Code)} {
			if got, err := scenarios.ByName(name); err != nil || got.ID != sc.ID {
				t.Errorf("%q finds %q, %v", name, got.ID, err)
			}
		}
	}
	for _, e := range algorithms.Milestones() {
		for _, name := range []string{e.ID, e.Article, strings.ToUpper(e.ID)} {
			if got, err := race.Lock(name); err != nil || got.ID != e.ID {
				t.Errorf("%q finds %q, %v", name, got.ID, err)
			}
		}
	}
	for what, find := range map[string]func() error{
		"gc-pause": func() error { _, err := scenarios.ByName("gc-puase"); return err },
		"watchdog": func() error { _, err := race.Lock("wathcdog"); return err },
	} {
		if err := find(); err == nil || !strings.Contains(text.SayError("en", err), "did you mean "+what+"?") {
			t.Errorf("no help: %v", err)
		}
	}
}
