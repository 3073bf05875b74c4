package study_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// A search computes successors on several cores and enters them into its tables on another.
// The result must not depend on which is faster, even where the search is cut short.
func TestSearchOnTwoCores(t *testing.T) {
	for _, id := range []string{"token", "getset"} { // without a clock, and with one
		b := study.DefaultBounds()
		b.Clients, b.Budget, b.MaxStates = 3, "crash=1,pause=1,failover=1,lose-reply=1", 40_000
		var first *study.Search
		for _, cores := range []int{1, 2, 4} {
			onProcs(cores, func() {
				s := explored(t, racetest.Lock(t, id), b)
				if first == nil {
					first = s
					if s.Result.Complete || s.Result.States < b.MaxStates || len(s.Witnesses) == 0 {
						t.Fatalf("the search was to be cut short with something found: %+v", s.Result)
					}
				}
				if got, want := certificate.Of(s, "en"), certificate.Of(first, "en"); got != want {
					t.Errorf("on %d cores:\n%s\non 1:\n%s", cores, got, want)
				}
				if !reflect.DeepEqual(s.Witnesses, first.Witnesses) {
					t.Errorf("on %d cores the witnesses differ", cores)
				}
			})
		}
	}
}

// Every cause has a counterexample that replays and has the faults that the cause names,
// and no cause is another one with something added.
func TestSearchCauses(t *testing.T) {
	t.Parallel()
	b := study.DefaultBounds()
	b.Causes = true
	for _, id := range []string{"setnx-expire", "token", "watchdog"} {
		s := explored(t, racetest.Lock(t, id), b)
		plain := b
		plain.Causes = false
		usual := explored(t, racetest.Lock(t, id), plain)
		least := map[verdict.Word][2]int{}
		replays(t, s)
		for _, w := range s.Witnesses {
			if len(w.Cause) != w.Par || w.Par == 1 && !strings.HasPrefix(w.Cause[0], study.InjectedFaults(w.Trace.Choices)) {
				t.Errorf("%s: %s by %q, but what strikes is %q", id, w.Verdict, w.Cause, study.InjectedFaults(w.Trace.Choices))
			}
			if _, ok := least[w.Verdict]; !ok {
				least[w.Verdict] = [2]int{w.Par, w.Steps}
			}
		}
		for _, w := range usual.Witnesses {
			if least[w.Verdict] != [2]int{w.Par, w.Steps} {
				t.Errorf("%s: %s has par and steps %d, %d; by causes %v", id, w.Verdict, w.Par, w.Steps, least[w.Verdict])
			}
			delete(least, w.Verdict)
		}
		if len(least) > 0 {
			t.Errorf("%s: found by causes only: %v", id, least)
		}
		if id == "token" && !slices.ContainsFunc(s.Witnesses, func(w study.Witness) bool {
			return w.Verdict == verdict.Overlap && slices.Equal(w.Cause, []string{"pause, at work"})
		}) {
			t.Error("nobody is overtaken by a pause at work")
		}
	}
}
