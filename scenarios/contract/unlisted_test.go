package contract_test

import (
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// unlisted is a lock that is neither in the list nor in the contract: token under another
// name.
func unlisted(t *testing.T) lock.Entry {
	t.Helper()
	e := racetest.Lock(t, "token")
	e.ID, e.Article, e.Also = "unlisted", "", nil
	if _, listed := algorithms.ByName(e.ID); listed {
		t.Fatalf("%s is in the list", e.ID)
	}
	return e
}

// TestUnlistedHasNoContract: the contract expects nothing of such a lock, and its traces can be replayed with that lock
// only.
func TestUnlistedHasNoContract(t *testing.T) {
	t.Parallel()
	e := unlisted(t)
	if n := len(contract.Uncovered(e)); n != len(scenarios.All()) {
		t.Errorf("the contract is silent on it in %d of %d scenarios", n, len(scenarios.All()))
	}
	o := play(t, e, racetest.Race("gc-pause"))
	if contract.Expected(o) != nil || !contract.Uncontracted(o.Lock, o.Race) ||
		!slices.Contains(o.Verdicts, verdict.Overlap) {
		t.Errorf("%v, and the contract speaks of it: %v", o.Verdicts, contract.Expected(o))
	}
	s := racetest.Must(search.Explore(t.Context(), e, search.DefaultBounds()))(t)
	for trace, want := range map[*simulator.Trace]verdict.Word{
		&o.Trace: verdict.Overlap, &s.Witnesses[0].Trace: s.Witnesses[0].Verdict,
	} {
		for name, on := range map[string]func(lock.Entry, simulator.Trace) (*race.Outcome, error){
			"replayed": search.ReplayOn, "watched": search.ReplayWithCodeOn,
		} {
			again, err := on(e, *trace)
			if err != nil || !slices.Contains(again.Verdicts, want) || !contract.Uncontracted(again.Lock, again.Race) {
				t.Errorf("%s, %s: %v, want %s in %+v", trace.Race, name, err, want, again)
			}
		}
		if _, err := search.Replay(*trace); err == nil {
			t.Errorf("%s: a lock that is in no list was found by its name", trace.Race)
		}
		if _, err := search.ReplayOn(racetest.Lock(t, "watchdog"), *trace); err == nil {
			t.Errorf("%s: the trace was played on another lock", trace.Race)
		}
	}
}
