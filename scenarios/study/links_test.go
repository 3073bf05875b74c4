package study_test

import (
	"testing"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// What a search has found is found again by its link alone, also where a server that is
// down or hangs goes on early.
func TestWitnessLinks(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry, err := race.Strategy("setnx")
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []string{"restart=1@10s", "hang=1@10s", "pause=1@10s"} {
		b := study.DefaultBounds()
		b.Budget, b.Attempts, b.Timing, b.Uses = faults.Budget(budget), 1, study.AnyTiming, 0
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil || len(s.Witnesses) == 0 {
			t.Fatalf("%s: %v, %d witnesses", budget, err, len(s.Witnesses))
		}
		for _, w := range s.Witnesses {
			trace, err := simulator.ParseLink(w.Trace.Link())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := study.Replay(trace); err != nil {
				t.Errorf("%s, %s: %v", budget, w.Verdict, err)
			}
		}
	}
}
