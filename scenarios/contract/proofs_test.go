package contract_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/simulator/verdict"
)

// TestProofs searches every row of proofs.txt: what comes out is what it says.
// TestContract plays the scenarios.
func TestProofs(t *testing.T) {
	t.Parallel()
	for _, e := range algorithms.All() {
		t.Run(e.ID, func(t *testing.T) {
			for _, r := range contract.Own() {
				if r.Strategy.ID == e.ID && r.IsSearch() {
					t.Run(r.Subject(), func(t *testing.T) { testSearch(t, r) })
				}
			}
		})
	}
}

func testSearch(t *testing.T, r contract.Expectation) {
	p, err := r.Prove(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Status == contract.Met {
		return
	}
	t.Errorf("%s:%d: %s\n%s\n%s", r.File, r.Line, strings.Join(p.Reasons, "; "), r.Command(), p.Search.Certificate())
	if p.Outcome == nil {
		return
	}
	var b strings.Builder
	if err := reports.Lanes(&b, p.Outcome.History, p.Outcome.Judgement, reports.Options{Width: 120}); err != nil {
		t.Error(err)
	}
	t.Log(b.String())
}

// The lab's own contract asks something of every lock and every fault, and both
// that a lock holds and that it breaks.
func TestRowsSpeakOfEverything(t *testing.T) {
	holds, breaks, struck := map[string]bool{}, map[string]bool{}, map[string]bool{}
	listed, cells := map[string]bool{}, 0
	for _, e := range algorithms.All() {
		listed[e.ID] = true
	}
	for _, r := range contract.Own() {
		if !r.IsSearch() {
			if listed[r.Strategy.ID] {
				cells++
			}
			continue
		}
		if r.Expected[0].Verdict == verdict.Holds {
			holds[r.Strategy.ID] = true
		} else {
			breaks[r.Strategy.ID] = true
		}
		budget, err := faults.ParseBudget(r.Bounds.Budget)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range budget {
			struck[a.Fault.Name()] = true
		}
	}
	for _, e := range algorithms.Milestones() {
		if !holds[e.ID] || !breaks[e.ID] {
			t.Errorf("%s: no search in which it must hold (%t), or none in which it must break (%t)", e.ID, holds[e.ID], breaks[e.ID])
		}
	}
	for _, f := range faults.All() {
		if !struck[f.Name()] {
			t.Errorf("no search has %s in its budget", f.Name())
		}
	}
	if want := len(algorithms.All()) * len(scenarios.All()); cells != want {
		t.Errorf("%d cells, want %d", cells, want)
	}
}

// Names are test names: unique, and as go test -run can ask for them.
func TestRowNames(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range contract.Own() {
		if seen[r.Name()] {
			t.Errorf("%s: twice", r.Name())
		}
		seen[r.Name()] = true
		if strings.ContainsAny(r.Subject(), " /+*?()[]") {
			t.Errorf("%s cannot be typed as a test's name", r.Subject())
		}
	}
}

// What a section leaves out is as usual, and what it says is not.
func TestRowBounds(t *testing.T) {
	for section, want := range map[string][2]string{
		"[search]": {"clients=2,attempts=2,budget=none",
			"locklab explore redlock --clients 2 --attempts 2 --budget '' --max-states 4000000"},
		"[search budget=none]": {"clients=2,attempts=2,budget=none",
			"locklab explore redlock --clients 2 --attempts 2 --budget '' --max-states 4000000"},
		"[search attempts=1 nodes=3 ttl=18s max-states=7 budget=crash=1,pause=1@5s]": {
			"clients=2,attempts=1,nodes=3,ttl=18s,max-states=7,budget=crash=1,pause=1@5s",
			"locklab explore redlock --clients 2 --attempts 1 --nodes 3 --ttl 18s --budget 'crash=1,pause=1@5s' --max-states 7"},
	} {
		rows, err := contract.Parse("c.txt", section+"\nredlock HOLDS\n")
		if err != nil {
			t.Errorf("%s: %v", section, err)
			continue
		}
		if got := [2]string{rows[0].Subject(), rows[0].Command()}; got != want {
			t.Errorf("%s: %q, want %q", section, got, want)
		}
	}
}

// TestParseRowsRefuses: every mistake is named with its file and line.
func TestParseRowsRefuses(t *testing.T) {
	for _, f := range []struct{ rule, text, want string }{
		{"nothing", "# nothing\n", "c.txt: it promises nothing"},
		{"a line before a section", "token HOLDS\n", "c.txt:1: a line before the first [scenario]"},
		{"an unknown lock", "[search]\ntokn HOLDS\n", `c.txt:2: there is no lock "tokn": did you mean token?`},
		{"an unknown lock in a race", "[gc-pause]\ntokn HOLDS\n", `c.txt:2: there is no lock "tokn": did you mean token?`},
		{"an unknown scenario", "[gc-pausw]\n", `c.txt:1: there is no scenario "gc-pausw"`},
		{"an unknown bound", "[search clents=3]\n", `c.txt:1: bound "clents=3": there is no such bound; bounds are clients, attempts`},
		{"a bound twice", "[search clients=3 clients=2]\n", `c.txt:1: bound "clients=2": clients is given twice`},
		{"a bound that is no number", "[search clients=many]\n", `c.txt:1: bound "clients=many"`},
		{"no limit", "[search max-states=0]\n", `c.txt:1: bound "max-states=0": give a number of states from 1`},
		{"an open section", "[search clients=3\n", "c.txt:1: "},
		{"something after a section", "[search] token HOLDS\n", "c.txt:1: "},
		{"clients out of range", "[search clients=9]\ntoken HOLDS\n", "c.txt:2: clients=9: give 1 to 6"},
		{"no lease", "[search ttl=0s]\ntoken HOLDS\n", "c.txt:2: "},
		{"servers for a lock of one", "[search nodes=3]\n\ntoken HOLDS\n", "c.txt:3: nodes=3: token locks on one server"},
		{"a session of no length", "[search ttl=0s]\n\nzk-recheck HOLDS\n", "c.txt:3: ttl=0s: zk-recheck locks by a session"},
		{"an unknown fault", "[search budget=crush=1]\ntoken HOLDS\n", `c.txt:2: budget "crush=1": unknown fault "crush": did you mean crash?`},
		{"a jump of no length", "[search budget=client-clock=1]\ntoken HOLDS\n", "c.txt:2: budget \"client-clock=1\": a clock jumps by some length: write client-clock=1@10s"},
		{"a verdict without par", "[search]\ntoken OVERLAP\n", `c.txt:2: "OVERLAP": write OVERLAP@1`},
		{"a par that is none", "[search]\ntoken OVERLAP@-1\n", `c.txt:2: "OVERLAP@-1": write OVERLAP@1`},
		{"par in a race", "[gc-pause]\ntoken OVERLAP@1\n", `c.txt:2: "OVERLAP@1" is no verdict that can be promised`},
		{"what is not searched for", "[search]\ntoken BLOCKED@1\n", `c.txt:2: "BLOCKED@1" is nothing that a search looks for`},
		{"HOLDS and more", "[search]\ntoken HOLDS OVERLAP@1\n", "c.txt:2: HOLDS stands alone"},
		{"the same verdict twice", "[search]\ntoken OVERLAP@1 OVERLAP@2\n", "c.txt:2: OVERLAP stands here twice"},
		{"no verdict", "[search]\ntoken\n", "c.txt:2: token/clients=2,attempts=2,budget=none has no verdict"},
		{"the same search twice", "[search]\ntoken HOLDS\n[search clients=2]\ntoken HOLDS\n", "c.txt:4: token/clients=2,attempts=2,budget=none stands on line 2 already"},
		{"the same cell twice", "[gc-pause]\ntoken HOLDS\ntoken HOLDS\n", "c.txt:3: token in gc-pause stands here for the second time"},
	} {
		rows, err := contract.Parse("c.txt", f.text)
		if err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: error %v, want it to say %s", f.rule, err, f.want)
		}
		if rows != nil {
			t.Errorf("%s: rows came with the error", f.rule)
		}
	}
}

// A contract that says something else than what is so is found out, whichever
// way it errs.
func TestProve(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		answer     contract.Status
		reason     string
	}{
		{"it holds", "[search budget=crash=1]\ntoken HOLDS", contract.Met, ""},
		{"it breaks", "[search budget=pause=1]\ntoken STALE-WRITE@1 OVERLAP@1 ORPHAN@1", contract.Met, ""},
		{"a lock that no longer breaks, or a blind lab", "[search budget=crash=1]\ntoken OVERLAP@1", contract.Differs, "OVERLAP does not come about any more"},
		{"a verdict too many", "[search budget=pause=1]\ntoken OVERLAP@1 ORPHAN@1", contract.Differs, "STALE-WRITE@1 comes about, contracted OVERLAP@1"},
		{"it should hold", "[search budget=pause=1]\ntoken HOLDS", contract.Differs, "OVERLAP@1 comes about, contracted HOLDS"},
		{"a verdict too few", "[search budget=pause=1]\ntoken OVERLAP@1 STALE-WRITE@1 ORPHAN@1 LIE@1", contract.Differs, "LIE does not come about any more"},
		{"par too low", "[search budget=pause=2@5s]\ntoken OVERLAP@1 STALE-WRITE@2 ORPHAN@1", contract.Differs, "OVERLAP takes 2 unlucky moves, contracted OVERLAP@1"},
		{"par too high", "[search budget=pause=1]\ntoken OVERLAP@2 STALE-WRITE@1 ORPHAN@1", contract.Differs, "OVERLAP takes only 1 unlucky move, contracted OVERLAP@2"},
		{"cut short", "[search max-states=20 budget=crash=1]\ntoken HOLDS", contract.Inconclusive, "cut short"},
		{"cut short before it broke", "[search max-states=20 budget=pause=1]\ntoken OVERLAP@1 STALE-WRITE@1", contract.Inconclusive, "OVERLAP was not found before the search was cut short"},
		{"a race", "[gc-pause]\ntoken STALE-WRITE OVERLAP", contract.Met, ""},
		{"a race that should break nothing", "[gc-pause]\ntoken HOLDS", contract.Differs, "it is OVERLAP STALE-WRITE, contracted HOLDS"},
		{"a race that should break something", "[gc-pause]\nsetnx OVERLAP", contract.Differs, "it is HOLDS, contracted OVERLAP"},
	} {
		rows, err := contract.Parse("c.txt", c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		p, err := rows[0].Prove(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		if all := strings.Join(p.Reasons, "; "); p.Status != c.answer || !strings.Contains(all, c.reason) || (all == "") != (c.reason == "") {
			t.Errorf("%s: answer %d because %q, want %d because %q", c.rule, p.Status, all, c.answer, c.reason)
		}
		if p.Status == contract.Differs && strings.Contains(c.reason, "takes") && !slices.Contains(p.Outcome.Verdicts, verdict.Overlap) {
			t.Errorf("%s: the witness shows %v", c.rule, p.Outcome.Verdicts)
		}
	}
}

// Searches side by side answer what one at a time answers, in the rows' order.
func TestVerify(t *testing.T) {
	var rows []contract.Expectation
	for _, r := range contract.Own() {
		if r.Strategy.ID == "token" {
			rows = append(rows, r)
		}
	}
	var most atomic.Int64
	proofs, err := contract.Verify(t.Context(), rows, func(n int) {
		for old := most.Load(); int64(n) > old && !most.CompareAndSwap(old, int64(n)); old = most.Load() {
		}
	})
	if err != nil || most.Load() != int64(len(rows)) {
		t.Errorf("%d of %d, %v", most.Load(), len(rows), err)
	}
	for i, p := range proofs {
		if p.Name() != rows[i].Name() || p.Status != contract.Met || p.IsSearch() != (p.Search != nil) {
			t.Errorf("%s: answer %d, %v", p.Name(), p.Status, p.Reasons)
		}
	}
}

// What is stopped is not answered.
func TestVerifyStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	proofs, err := contract.Verify(ctx, contract.Own(), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for _, p := range proofs {
		if p.Status != contract.NotRun {
			t.Errorf("%s is answered: %d", p.Name(), p.Status)
		}
		if p.Line == 0 {
			t.Error("a row without its line")
		}
	}
}
