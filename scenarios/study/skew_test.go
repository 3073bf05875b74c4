package study_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
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
		s := completed(t, entry, b)
		if test.want == nil && len(s.Found) > 0 {
			t.Errorf("%s with a skew of %v: found %v", test.id, test.skew, s.Found[0].Verdict)
		}
		for word, par := range test.want {
			i := slices.IndexFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == word && w.Par == par })
			if i < 0 {
				t.Errorf("%s with a skew of %v: no %s@%d", test.id, test.skew, word, par)
			}
		}
		replays(t, s)
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
