package study_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// Skew breaks locks that compare times of two clients, once it is as long as a lease outlasts
// the work; and no lock that only measures how long something took.
func TestSkew(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	overlap := map[verdict.Word]int{verdict.Overlap: 0}
	for _, test := range []struct {
		id     string
		timing study.Mode
		skew   time.Duration
		want   map[verdict.Word]int // among others; nil: nothing
	}{
		{"getset", study.Lockstep, 2250 * time.Millisecond, nil},
		{"getset", study.Lockstep, 6 * time.Second, map[verdict.Word]int{verdict.Overlap: 0, verdict.WrongDel: 0}},
		{"takeover-del", study.Lockstep, 6 * time.Second, map[verdict.Word]int{verdict.Overlap: 0, verdict.WrongDel: 0}},
		{"client-expiry", study.AnyTiming, 1500 * time.Millisecond, nil},
		{"client-expiry", study.Lockstep, 6 * time.Second, overlap},
		{"token", study.AnyTiming, 9 * time.Second, nil},
		{"redlock", study.Lockstep, 3 * time.Second, nil},
	} {
		entry := racetest.Lock(t, test.id)
		b := small(entry, 2, 1, "")
		b.Nodes = min(entry.Servers(), 3)
		b.Timing, b.Retries, b.Skew = test.timing, study.AutoRetries, test.skew
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil || !s.Complete {
			t.Fatalf("%s: %v", test.id, err)
		}
		if test.want == nil && len(s.Found) > 0 {
			t.Errorf("%s with a skew of %v: found %v", test.id, test.skew, s.Found[0].Verdict)
		}
		for word, par := range test.want {
			i := slices.IndexFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == word && w.Par == par })
			if i < 0 {
				t.Errorf("%s with a skew of %v: no %s@%d", test.id, test.skew, word, par)
				continue
			}
			link, err := simulator.ParseLink(s.Witnesses[i].Trace.Link())
			if err != nil {
				t.Fatal(err)
			}
			if o, err := study.ReplayOn(entry, link); err != nil || !slices.Contains(o.Verdicts, word) {
				t.Errorf("%s: the witness of %s comes to %v, %v", test.id, word, o, err)
			}
		}
		for text, is := range map[string]bool{
			"no client reads its clock":     !s.ReadsClock && !s.Measures,
			"use their clocks only to meas": s.Measures && s.Result.Grain == 0,
		} {
			if strings.Contains(certificate.Of(s, "en"), text) != is {
				t.Errorf("%s: the clock is read: %t, to measure: %t; the certificate:\n%s", test.id, s.ReadsClock, s.Measures, certificate.Of(s, "en"))
			}
		}
		if measures := test.id == "redlock"; (s.Measures && s.Result.Grain == 0) != measures {
			t.Errorf("%s uses its clock only to measure: %t", test.id, s.Measures)
		}
	}
}

// More skew never loses a verdict, and never raises a par.
func TestSkewIsMonotone(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	ids, budgets, skews := []string{"takeover-del", "client-expiry"}, []string{""}, []time.Duration{0, 3 * time.Second, 6 * time.Second}
	if effort.Exhaustive() {
		ids, budgets = append(ids, "getset", "getset-retry", "token"), append(budgets, "pause=1@3s")
		skews = append(skews, 9*time.Second)
	}
	for _, id := range ids {
		for _, budget := range budgets {
			entry := racetest.Lock(t, id)
			before := map[verdict.Word]int{}
			for _, skew := range skews {
				b := small(entry, 2, 1, budget)
				b.Retries, b.Skew = 1, skew
				found := tried(t, entry, b, 2_000_000, nil)
				if found == nil {
					t.Fatalf("%s, %s, a skew of %v: too many states", id, budget, skew)
				}
				for word, par := range before {
					if now, ok := found[word]; !ok || now > par {
						t.Errorf("%s, %s: %s@%d, and with a skew of %v: %v", id, budget, word, par, skew, found)
					}
				}
				before = found
			}
		}
	}
}

// Clocks are off by whole steps.
func TestSkewsThatAreRefused(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := racetest.Lock(t, "token")
	for _, skew := range []time.Duration{-750 * time.Millisecond, time.Second, time.Nanosecond, 45750 * time.Millisecond} {
		b := study.DefaultBounds()
		b.Skew = skew
		if err := b.Check(entry); err == nil || !strings.Contains(text.SayError("en", err), "skew="+skew.String()) {
			t.Errorf("a skew of %v: %v", skew, err)
		}
	}
	b := study.DefaultBounds()
	b.Skew = 45 * time.Second
	if err := b.Check(entry); err != nil {
		t.Error(err)
	}
	if got, err := study.ParseBounds(b.String()); err != nil || got.Skew != b.Skew {
		t.Errorf("%s is read as %s, %v", b, got, err)
	}
}
