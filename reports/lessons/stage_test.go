package lessons

import (
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
)

// TestStage: however many runs are asked for, it keeps the latest of them, and what it plays
// again is what it was.
func TestStage(t *testing.T) {
	s := NewStage()
	first, err := s.Play(algorithms.All()[0], scenarios.All()[0])
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range algorithms.All()[:5] {
		row, err := s.Row(e)
		if err != nil {
			t.Fatal(err)
		}
		n += len(row)
		again, err := s.Row(e)
		if err != nil || !slices.Equal(row, again) { // a page asks for its runs more than once
			t.Errorf("%s: what was played last is not kept: %v", e.ID, err)
		}
	}
	if len(s.cells) >= n || len(s.order) != len(s.cells) {
		t.Errorf("of %d runs %d are kept, in an order of %d", n, len(s.cells), len(s.order))
	}
	again, err := s.Play(first.Lock, first.Race)
	if err != nil || again == first || again.Trace.Link() != first.Trace.Link() ||
		!slices.Equal(again.Verdicts, first.Verdicts) {
		t.Errorf("%v, %v; want %v", again, err, first)
	}
}
