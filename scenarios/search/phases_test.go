package search_test

import (
	"slices"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// TestPhases: the stamps of takeover-del are whole seconds. With clocks that are 3 s apart a run from a whole second
// shows nothing; from a start at half a second, floor(37.5) = 37 and floor(47.1) = 47 are 10 s apart for times that
// are 9.6 s apart. Other phases find no more.
func TestPhases(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	e := racetest.Lock(t, "takeover-del")
	b := within(t, e, "retries=1 skew=3s")
	all := completed(t, e, b)
	if want := []string{"OVERLAP@0", "STALE-WRITE@0", "WRONG-DEL@0"}; !slices.Equal(all.Pars(), want) {
		t.Fatalf("found %v", all.Pars())
	}
	replays(t, all)
	for phase, breaks := range map[int64]bool{37: false, 398: false, 399: true, 777: true, 998: true} {
		b.Epoch = simulator.Date(simulator.Epoch.UnixMilli() + phase)
		if one := exploring(t, e, b); len(one.Found) > 0 != breaks || breaks && !slices.Equal(one.Pars(), all.Pars()) {
			t.Errorf("from %d ms on: found %v", phase, one.Pars())
		}
	}
}
