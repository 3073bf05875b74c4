package explore

import (
	"errors"
	"testing"

	"locklab/simulator"
	"locklab/simulator/process"
)

// TestRefine: what refutes an assumption weakens it and, but for the memory of code that reads a clock, no
// other; another error weakens nothing.
func TestRefine(t *testing.T) {
	type assumed = simulator.Assumptions
	strongest := assumptions{Assumptions: simulator.Assumptions{
		Symmetric: 3, Merging: process.MergeHistories, Measures: true, Creations: true, Rests: true,
	}}
	reads, measures := simulator.Traits{ReadsClock: true}, simulator.Traits{Measured: true}
	for _, test := range []struct {
		name           string
		counterexample error
		seen           simulator.Traits
		weaken         func(a *assumed)
	}{
		{"a time of day", &process.TimeOfDayError{}, measures, func(a *assumed) { a.Measures = false }},
		{"a split", &process.SplitError{}, simulator.Traits{}, func(*assumed) {}},
		{"the last split", &process.SplitError{End: true}, simulator.Traits{}, func(a *assumed) { a.Merging = process.MergeOrders }},
		{"an asymmetry", &simulator.AsymmetricError{Session: true}, simulator.Traits{}, func(a *assumed) { a.Symmetric = 0 }},
		{"a clock is read", errNewTrait, reads, func(a *assumed) { a.Measures, a.Merging = false, process.MergeOrders }},
		{"a clock measures", errNewTrait, measures, func(a *assumed) { a.Merging = process.MergeOrders }},
		{"another trait", errNewTrait, simulator.Traits{SendsWait: true}, func(*assumed) {}},
	} {
		want := strongest.Assumptions
		test.weaken(&want)
		got, refuted := strongest.refine(test.counterexample, test.seen)
		if !refuted || got.Assumptions != want {
			t.Errorf("%s: %+v, refuted %t; want %+v", test.name, got.Assumptions, refuted, want)
		}
	}
	got, refuted := strongest.refine(errors.New("the code panicked"), reads)
	if refuted || got.Assumptions != strongest.Assumptions {
		t.Errorf("an error that is about no assumption: %+v, refuted %t", got.Assumptions, refuted)
	}
	if got, _ := strongest.refine(&simulator.AsymmetricError{Does: "GET"}, reads); got.asymmetry.Does != "GET" {
		t.Errorf("why clients are not interchangeable is lost: %+v", got.asymmetry)
	}
}

func TestProperSubset(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want bool
	}{
		{nil, []string{"x"}, true}, {[]string{"x"}, []string{"x"}, false}, {[]string{"x"}, []string{"w", "x"}, true},
		{[]string{"x", "x"}, []string{"w", "x", "y"}, false}, {[]string{"x", "y"}, []string{"x"}, false},
	} {
		if got := properSubset(c.a, c.b); got != c.want {
			t.Errorf("properSubset(%q, %q) = %t", c.a, c.b, got)
		}
	}
}
