package study_test

import (
	"fmt"
	"slices"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
)

// TestSplit: a search that is split finds what one search finds, with the same par and as
// few steps, by ways that can be gone again.
func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lock, budget string
		n            int
		timing       study.Timing
	}{
		{"token", "crash=1,pause=1", 2, study.Lockstep},
		{"token", "crash=1,pause=1", 20, study.Lockstep},
		{"setnx-expire", "crash=1,restart=1", 9, study.Lockstep},
		{"watchdog", "pause=1", 6, study.Lockstep},
		{"zk-naive", "crash=1", 6, study.Lockstep},
		{"getset", "pause=1", 5, study.Lockstep}, // reads a clock
		{"token", "", 8, study.AnyTiming},
		{"redlock", "failover=1", 3, study.Lockstep},
		{"setnx", "delete=1", 6, study.Lockstep}, // deletes keys by their place
	} {
		t.Run(fmt.Sprint(c.lock, c.budget, c.n), func(t *testing.T) {
			t.Parallel()
			entry := racetest.Lock(t, c.lock)
			b := study.DefaultBounds()
			b.Attempts, b.Budget, b.Timing = 1, c.budget, c.timing
			if entry.Servers() > 3 {
				b.Nodes = 3
			}
			one, err := study.Explore(t.Context(), entry, b)
			if err != nil {
				t.Fatal(err)
			}
			all, err := study.ExploreSplit(t.Context(), entry, b, c.n, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !one.Complete || !all.Complete || all.Parts < c.n || all.States < one.States || len(one.Witnesses) != len(all.Witnesses) {
				t.Fatalf("one search: complete %t, %d states, %d verdicts; %d: %t, %d, %d",
					one.Complete, one.States, len(one.Witnesses), all.Parts, all.Complete, all.States, len(all.Witnesses))
			}
			t.Logf("%d states, %.1f times as many in %d parts", one.States, float64(all.States)/float64(one.States), all.Parts)
			for i, w := range all.Witnesses {
				if o := one.Witnesses[i]; w.Verdict != o.Verdict || w.Par != o.Par || w.Steps != o.Steps {
					t.Errorf("%s@%d in %d steps, one search has %s@%d in %d", w.Verdict, w.Par, w.Steps, o.Verdict, o.Par, o.Steps)
				}
				o, err := study.ReplayOn(entry, w.Trace)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(o.Verdicts, w.Verdict) {
					t.Errorf("the witness of %s shows %v", w.Verdict, o.Verdicts)
				}
			}
			if fmt.Sprint(one.Untriggered()) != fmt.Sprint(all.Untriggered()) || one.ReadsClock != all.ReadsClock {
				t.Errorf("not injected: %v and %v; a clock is read: %t and %t", one.Untriggered(), all.Untriggered(), one.ReadsClock, all.ReadsClock)
			}
		})
	}
}

// TestSplitSmall: what is too small to be split is one search.
func TestSplitSmall(t *testing.T) {
	t.Parallel()
	b := study.DefaultBounds()
	b.Clients, b.Attempts, b.Budget = 1, 1, ""
	s, err := study.ExploreSplit(t.Context(), racetest.Lock(t, "token"), b, 1000, nil)
	if err != nil || !s.Complete || s.Parts != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
