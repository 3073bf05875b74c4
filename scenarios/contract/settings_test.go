package contract_test

import (
	"testing"

	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
)

// TestExpectedOnlyWithOwnSettings: the contract expects nothing of a run with other
// settings than the scenario's own. Another seed changes nothing.
func TestExpectedOnlyWithOwnSettings(t *testing.T) {
	e, sc := racetest.Cell(t, "token", "gc-pause")
	for _, f := range []struct {
		set      string
		expected bool
	}{{"", true}, {"seed=9", true}, {"pause=13s", false}, {"ttl=9s", false}, {"budget=pause=1", false}} {
		s := racetest.Must(sc.Settings.With(f.set))(t)
		if o := racetest.Play(t, e, sc, s); (contract.Expected(o) != nil) != f.expected {
			t.Errorf("with %q: expected is %v", f.set, contract.Expected(o))
		}
	}
}
