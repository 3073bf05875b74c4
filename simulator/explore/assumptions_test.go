package explore

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/checkpoint"
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
		weaker := !strongest.NoStrongerThan(got.Assumptions)
		if !got.NoStrongerThan(strongest.Assumptions) || weaker != (want != strongest.Assumptions) {
			t.Errorf("%s: %+v is not weaker", test.name, got.Assumptions)
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

// TestCheckpointAssumesMore: a file of a search that assumed something is refused by a search that
// does without it, and accepted by one that does not.
func TestCheckpointAssumesMore(t *testing.T) {
	entry, _ := algorithms.ByName("token")
	allowed, err := faults.Budget("pause=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	for name, without := range map[string]Plain{
		"nothing": {}, "symmetry": {Symmetry: true}, "rests": {Rests: true}, "clocks": {Clocks: true},
	} {
		m := &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: 9 * time.Second}}
		m.Checkpoint = checkpoint.Config{File: filepath.Join(t.TempDir(), "search"), Search: "token", Now: time.Now}
		m.MaxStates = 50
		if r, err := Search(t.Context(), m); err != nil || r.Complete {
			t.Fatalf("a search that is cut short: %v", err)
		}
		m.MaxStates, m.Plain = 0, without
		r, err := Search(t.Context(), m)
		if refused := errors.Is(err, errUnsound); refused != (without != Plain{}) || !refused && (err != nil || !r.Complete) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
