package study_test

import (
	"reflect"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
)

// TestSensitivity tests the counts behind the chart.
func TestSensitivity(t *testing.T) {
	effort.Unwatched(t, "TestSweepIsDeterministic plays side by side as well")
	const n = 18 // each length of work twice
	xs := []float64{0, 0.25, 0.5, 1, 1.5, 2}
	var first *study.Sensitivity
	for _, procs := range []int{1, 2} {
		onProcs(procs, func() {
			steps := make(chan int, study.SensitivitySteps(len(algorithms.Milestones()), len(xs), n))
			s, err := study.FindSensitivity(t.Context(), algorithms.Milestones(), xs, n, false, &share.Work{Done: func(k int) { steps <- k }})
			if err != nil {
				t.Fatal(err)
			}
			if len(steps) != cap(steps) {
				t.Errorf("told of %d steps, announced were %d", len(steps), cap(steps))
			}
			if first == nil {
				first = s
			}
			if !reflect.DeepEqual(s, first) {
				t.Errorf("%d processors change the counts:\n%v\n%v", procs, first, s)
			}
		})
	}
	for l, e := range algorithms.Milestones() {
		points := first.Series[l].Points
		for i, p := range points {
			if p.X != xs[i] || p.N != n {
				t.Errorf("%s: point %d is %+v, want that of %g, of %d runs", e.ID, i, p, xs[i], n)
			}
		}
		if points[0].K != 0 {
			t.Errorf("%s: %d of %d runs overlap without a pause: nobody works longer than 9/10 of a lease", e.ID, points[0].K, n)
		}
		// A pause of two leases is longer than what is left of any lease, and than the
		// longest renewal margin. A lock without a lease cannot be lost by waiting.
		want := n
		if e.Expiry == lock.ExpiryNone {
			want = 0
		}
		if last := points[len(points)-1]; last.K != want {
			t.Errorf("%s: %d of %d runs overlap at a pause of two leases, want %d", e.ID, last.K, n, want)
		}
		for _, p := range points {
			if want == 0 && p.K != 0 {
				t.Errorf("%s has no lease, and overlaps in %d runs at %g", e.ID, p.K, p.X)
			}
		}
	}
	// The random moments are the same for every length of pause, and a longer pause
	// covers a shorter one: a run that overlaps with the shorter pause overlaps with the
	// longer.
	token := first.Series[3].Points
	for i := 1; i < len(token); i++ {
		if token[i].K < token[i-1].K {
			t.Errorf("token: %d runs overlap at %g and only %d at %g", token[i-1].K, token[i-1].X, token[i].K, token[i].X)
		}
	}
	if token[1].K == 0 || token[1].K >= token[3].K {
		t.Errorf("token: %d of %d at a quarter of a lease, %d at a whole one: the chart would not rise", token[1].K, n, token[3].K)
	}
}
