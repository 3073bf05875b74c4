package contract_test

import (
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
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

// paused are the usual bounds with one pause.
func paused() search.Bounds {
	b := search.DefaultBounds()
	b.Budget = "pause=1"
	return b
}

// TestProveUnlisted: Prove uses the lock of the expectation, listed or not: it plays
// races, searches, and replays the counterexamples.
func TestProveUnlisted(t *testing.T) {
	t.Parallel()
	e := unlisted(t)
	const met, differs = contract.Met, contract.Differs
	var rows []contract.Expectation
	want := []contract.Status{met, differs, met, differs}
	for _, written := range []string{
		"[gc-pause]\ntoken OVERLAP STALE-WRITE", "[gc-pause]\ntoken HOLDS",
		"[search budget=pause=1]\ntoken OVERLAP@1 STALE-WRITE@1 ORPHAN@1", "[search budget=pause=1]\ntoken HOLDS",
	} {
		list := racetest.Must(contract.Parse("c.txt", written))(t)
		list[0].Lock = e
		rows = append(rows, list[0])
	}
	proofs := racetest.Must(contract.Verify(t.Context(), rows, nil))(t)
	for i, p := range proofs {
		if p.Status != want[i] || p.Outcome == nil || p.Outcome.Lock.ID != e.ID {
			t.Errorf("%s: answer %d, want %d: %v", p.Name(), p.Status, want[i], text.SayMessages("en", p.Reasons))
		}
	}
}

// TestUnlistedEverywhere: every function that takes a lock accepts one that is not
// listed, and the contract expects nothing of it.
func TestUnlistedEverywhere(t *testing.T) {
	t.Parallel()
	e := unlisted(t)
	if n := len(contract.Uncovered(e)); n != len(scenarios.All()) {
		t.Errorf("the contract is silent on it in %d of %d scenarios", n, len(scenarios.All()))
	}
	cells := racetest.Must(study.Matrix(t.Context(), []lock.Entry{e}, scenarios.All(), 0, nil, nil))(t)
	for _, row := range cells {
		o := row[0]
		if contract.Expected(o) != nil || !contract.Uncontracted(o.Lock, o.Race) {
			t.Errorf("%s: the contract speaks of it: %v", o.Race.ID, contract.Expected(o))
		}
		if known := contract.CellOf(racetest.Lock(t, "token"), o.Race).Words(); !sameWords(o.Verdicts, known) {
			t.Errorf("%s: %v, token's are %v", o.Race.ID, o.Verdicts, known)
		}
	}
	table, err := study.FindPars(t.Context(), []lock.Entry{e}, search.DefaultBounds(), []string{"pause=1"}, nil)
	if err != nil || table.Rows[0].Lock != e.ID || !table.Rows[0].Found {
		t.Errorf("par: %v, %+v", err, table.Rows)
	}
	tolerance, err := study.FindTolerance(t.Context(), []lock.Entry{e}, nil)
	if err != nil || tolerance.Limits[0].Falls == 0 {
		t.Errorf("tolerance: %v, %+v", err, tolerance.Limits)
	}
}

// TestReplayUnlisted: a trace of such a lock can be replayed with that lock only.
func TestReplayUnlisted(t *testing.T) {
	t.Parallel()
	e := unlisted(t)
	s := racetest.Must(search.Explore(t.Context(), e, paused()))(t)
	for trace, want := range map[*simulator.Trace]verdict.Word{
		&play(t, e, racetest.Race("gc-pause")).Trace: verdict.Overlap, &s.Witnesses[0].Trace: s.Witnesses[0].Verdict,
	} {
		again, err := search.ReplayOn(e, *trace)
		if err != nil || !slices.Contains(again.Verdicts, want) || !contract.Uncontracted(again.Lock, again.Race) {
			t.Errorf("%s: %v, want %s in %+v", trace.Race, err, want, again)
		}
		if watched, err := search.ReplayWithCodeOn(e, *trace); err != nil || !slices.Contains(watched.Verdicts, want) {
			t.Errorf("watching %s: %v", trace.Race, err)
		}
		if _, err := search.Replay(*trace); err == nil {
			t.Errorf("%s: a lock that is in no list was found by its name", trace.Race)
		}
		if _, err := search.ReplayOn(racetest.Lock(t, "watchdog"), *trace); err == nil {
			t.Errorf("%s: the trace was played on another lock", trace.Race)
		}
	}
	if d, err := study.DoomOn(t.Context(), e, s.Witnesses[0].Trace); err != nil || d.Harm != s.Witnesses[0].Verdict {
		t.Errorf("doom: %v", err)
	}
}
