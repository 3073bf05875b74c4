package explore

import (
	"errors"
	"testing"

	"locklab/simulator"
	"locklab/simulator/process"
)

// TestRefine: what refutes an assumption weakens it and no other, another error weakens nothing, and from
// the strongest assumptions so few steps lead to the weakest that a search ends.
func TestRefine(t *testing.T) {
	strongest := assumptions{Assumptions: simulator.Assumptions{
		Symmetric: 3, Merging: process.MergeHistories, Measures: true, Creations: true, Rests: true,
	}}
	reads, measures := simulator.Traits{ReadsClock: true}, simulator.Traits{Measured: true}
	for _, test := range []struct {
		name           string
		counterexample error
		seen           simulator.Traits
		want           func(a *simulator.Assumptions)
	}{
		{"a time of day", &process.TimeOfDayError{}, measures, func(a *simulator.Assumptions) { a.Measures = false }},
		{"a split", &process.SplitError{}, simulator.Traits{}, func(*simulator.Assumptions) {}},
		{"the last split", &process.SplitError{End: true}, simulator.Traits{}, func(a *simulator.Assumptions) { a.Merging = process.MergeOrders }},
		{"an asymmetry", &simulator.AsymmetricError{Session: true}, simulator.Traits{}, func(a *simulator.Assumptions) { a.Symmetric = 0 }},
		{"a clock is read", errNewTrait, reads, func(a *simulator.Assumptions) { a.Measures, a.Merging = false, process.MergeOrders }},
		{"a clock measures", errNewTrait, measures, func(a *simulator.Assumptions) { a.Merging = process.MergeOrders }},
		{"another trait", errNewTrait, simulator.Traits{SendsWait: true}, func(*simulator.Assumptions) {}},
	} {
		want := strongest.Assumptions
		test.want(&want)
		got, refuted := strongest.refine(test.counterexample, test.seen)
		if !refuted || got.Assumptions != want {
			t.Errorf("%s: %+v, refuted %t; want %+v", test.name, got.Assumptions, refuted, want)
		}
		if !got.NoStrongerThan(strongest.Assumptions) || got.Assumptions != strongest.Assumptions && strongest.NoStrongerThan(got.Assumptions) {
			t.Errorf("%s: %+v is not weaker", test.name, got.Assumptions)
		}
	}
	if got, refuted := strongest.refine(errors.New("the code panicked"), reads); refuted || got.Assumptions != strongest.Assumptions {
		t.Errorf("an error that is about no assumption: %+v, refuted %t", got.Assumptions, refuted)
	}
	if got, _ := strongest.refine(&simulator.AsymmetricError{Does: "GET"}, reads); got.asymmetry.Does != "GET" {
		t.Errorf("why clients are not interchangeable is lost: %+v", got.asymmetry)
	}
}
