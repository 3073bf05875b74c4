package search

import (
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// The stamps of takeover-del are whole seconds. With clocks that are 3 s apart a run from a whole second shows nothing; from a start at
// half a second, floor(37.5) = 37 and floor(47.1) = 47 are 10 s apart for times that are 9.6 s apart. Other phases find no more.
func TestPhases(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	e, _ := algorithms.ByName("takeover-del")
	b := DefaultBounds()
	b.Attempts, b.Retries, b.Timing, b.Budget, b.Skew = 1, 1, Lockstep, "", 3*time.Second
	all, err := Explore(t.Context(), e, b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel}; !all.Complete || !slices.Equal(all.Verdicts(), want) {
		t.Fatalf("found %v", all.Pars())
	}
	for _, w := range all.Witnesses {
		if o, err := Replay(w.Trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
			t.Errorf("%s: the run comes to %v, %v", w.Verdict, o, err)
		}
	}
	for phase, breaks := range map[int64]bool{37: false, 313: false, 398: false, 399: true, 500: true, 777: true, 998: true} {
		b.Epoch = simulator.Date(simulator.Epoch.UnixMilli() + phase)
		one, err := Explore(t.Context(), e, b)
		if err != nil || len(one.Found) > 0 != breaks || one.Found != nil && !slices.Equal(one.Pars(), all.Pars()) {
			t.Errorf("from %d ms on: found %v, %v", phase, one.Pars(), err)
		}
	}
}
