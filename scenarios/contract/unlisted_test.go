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
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// unlisted is a lock that is neither in the list nor in the contract: token under another
// name.
func unlisted(t *testing.T) lock.Entry {
	t.Helper()
	e, ok := algorithms.ByName("token")
	if !ok {
		t.Fatal("where is token?")
	}
	e.ID, e.Article, e.Also = "unlisted", "", nil
	if _, listed := algorithms.ByName(e.ID); listed {
		t.Fatalf("%s is in the list", e.ID)
	}
	return e
}

// TestProveUnlisted: Prove uses the lock of the expectation, listed or not: it plays
// races, searches, and replays the counterexamples.
func TestProveUnlisted(t *testing.T) {
	t.Parallel()
	e := unlisted(t)
	race, err := scenarios.ByName("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	b := study.DefaultBounds()
	b.Budget = "pause=1"
	searched := []contract.ExpectedVerdict{{Verdict: verdict.Overlap, Par: 1}, {Verdict: verdict.StaleWrite, Par: 1}, {Verdict: verdict.Orphan, Par: 1}}
	played := []contract.ExpectedVerdict{{Verdict: verdict.Overlap, Par: -1}, {Verdict: verdict.StaleWrite, Par: -1}}
	holds := []contract.ExpectedVerdict{{Verdict: verdict.Holds, Par: -1}}
	var rows []contract.Expectation
	for _, c := range []struct {
		rule string
		row  contract.Expectation
		want contract.Status
	}{
		{"a race as promised", contract.Expectation{Strategy: e, Scenario: race, Expected: played}, contract.Met},
		{"a race that differs", contract.Expectation{Strategy: e, Scenario: race, Expected: holds}, contract.Differs},
		{"a search as promised", contract.Expectation{Strategy: e, Bounds: b, Expected: searched}, contract.Met},
		{"a search that differs", contract.Expectation{Strategy: e, Bounds: b, Expected: holds}, contract.Differs},
	} {
		p, err := c.row.Prove(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		if p.Status != c.want || p.Outcome == nil || p.Outcome.Strategy.ID != e.ID {
			t.Errorf("%s: answer %d, want %d: %v", c.rule, p.Status, c.want, text.SayMessages("en", p.Reasons))
		}
		rows = append(rows, c.row)
	}
	proofs, err := contract.Verify(t.Context(), rows[:3], nil)
	if err != nil || proofs[0].Status != contract.Met || proofs[1].Status != contract.Differs || proofs[2].Status != contract.Met {
		t.Errorf("Verify: %v, %+v", err, proofs)
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
	cells, err := study.Matrix(t.Context(), []lock.Entry{e}, scenarios.All(), 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range cells {
		o := row[0]
		if contract.Expected(o) != nil || !contract.Uncontracted(o.Strategy, o.Scenario) {
			t.Errorf("%s: the contract speaks of it: %v", o.Scenario.ID, contract.Expected(o))
		}
		if known := contract.CellOf(racetest.Lock(t, "token"), o.Scenario).Words(); !sameWords(o.Verdicts, known) {
			t.Errorf("%s: %v, token's are %v", o.Scenario.ID, o.Verdicts, known)
		}
	}
	table, err := study.FindPars(t.Context(), []lock.Entry{e}, study.DefaultBounds(), []string{"pause=1"}, nil)
	if err != nil || table.Pars[0].Strategy != e.ID || !table.Pars[0].Found {
		t.Errorf("par: %v, %+v", err, table.Pars)
	}
	tolerance, err := study.FindTolerance(t.Context(), []lock.Entry{e}, nil)
	if err != nil || tolerance.Limits[0].Falls == 0 {
		t.Errorf("tolerance: %v, %+v", err, tolerance.Limits)
	}
	axis, err := study.ParseAxis("pause/ttl=2")
	if err != nil {
		t.Fatal(err)
	}
	order := study.SweepOrder{Axes: []study.Axis{axis}, Runs: 9}
	if err := order.Complete(); err != nil {
		t.Fatal(err)
	}
	s, err := order.Find(t.Context(), []lock.Entry{e}, func(int) (*share.Work, func()) { return nil, func() {} })
	if err != nil || s.Series[0].Points[0].N != 9 {
		t.Errorf("sweep: %v, %v", err, s)
	}
}

// TestReplayUnlisted: a trace of such a lock can be replayed with that lock only.
func TestReplayUnlisted(t *testing.T) {
	t.Parallel()
	e := unlisted(t)
	race, err := scenarios.ByName("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	b := study.DefaultBounds()
	b.Budget = "pause=1"
	s, err := study.Explore(t.Context(), e, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		trace simulator.Trace
		want  verdict.Word
	}{{play(t, e, race).Trace, verdict.Overlap}, {s.Witnesses[0].Trace, s.Witnesses[0].Verdict}} {
		again, err := study.ReplayOn(e, c.trace)
		if err != nil || !slices.Contains(again.Verdicts, c.want) || !contract.Uncontracted(again.Strategy, again.Scenario) {
			t.Errorf("%s: %v, want %s in %+v", c.trace.Scenario, err, c.want, again)
		}
		if watched, err := study.ReplayWithCodeOn(e, c.trace); err != nil || !slices.Contains(watched.Verdicts, c.want) {
			t.Errorf("watching %s: %v", c.trace.Scenario, err)
		}
		if _, err := study.Replay(c.trace); err == nil {
			t.Errorf("%s: a lock that is in no list was found by its name", c.trace.Scenario)
		}
		if _, err := study.ReplayOn(racetest.Lock(t, "watchdog"), c.trace); err == nil {
			t.Errorf("%s: the trace was played on another lock", c.trace.Scenario)
		}
	}
	if d, err := study.DoomOn(t.Context(), e, s.Witnesses[0].Trace); err != nil || d.Harm != s.Witnesses[0].Verdict {
		t.Errorf("doom: %v", err)
	}
}
