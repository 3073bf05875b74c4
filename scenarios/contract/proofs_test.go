package contract_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/share"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// TestProve: every kind of mistake in a contract is reported.
func TestProve(t *testing.T) {
	effort.OnlyPushed(t, "it proves for seconds")
	for _, c := range []struct {
		rule, text string
		answer     contract.Status
		reason     string
	}{
		{"it holds", "[search budget=crash=1]\ntoken HOLDS", contract.Met, ""},
		{"it breaks", "[search budget=pause=1]\ntoken STALE-WRITE@1 OVERLAP@1 ORPHAN@1", contract.Met, ""},
		{"a lock that no longer breaks, or a blind lab", "[search budget=crash=1]\ntoken OVERLAP@1", contract.Differs,
			"OVERLAP does not occur any more"},
		{"a verdict too many", "[search budget=pause=1]\ntoken OVERLAP@1 ORPHAN@1", contract.Differs,
			"STALE-WRITE@1 occurs, contracted OVERLAP@1"},
		{"par too low", "[search budget=pause=2@5s]\ntoken OVERLAP@1 STALE-WRITE@2 ORPHAN@1", contract.Differs,
			"OVERLAP takes 2 faults, contracted OVERLAP@1"},
		{"par too high", "[search budget=pause=1]\ntoken OVERLAP@2 STALE-WRITE@1 ORPHAN@1", contract.Differs,
			"OVERLAP takes only 1 fault, contracted OVERLAP@2"},
		{"cut short", "[search max-states=20 budget=crash=1]\ntoken HOLDS", contract.Inconclusive, "cut short"},
		{"it is proved", "[prove budget=crash=any]\ntoken HOLDS", contract.Met, ""},
		{"one verdict occurs, and the others are proved", "[prove budget=crash=any]\nsetnx DEADLOCK@1",
			contract.Met, ""},
		{"it should occur", "[prove budget=crash=any]\ntoken DEADLOCK@1 LIE@1", contract.Differs,
			"LIE is proved impossible for any number of clients, contracted LIE@1: the lock has become better, " +
				"or locklab itself is broken; DEADLOCK is proved impossible"},
		{"proved for one attempt, contracted for any number", "[prove budget=crash=any]\nredisson-lease HOLDS instants",
			contract.Inconclusive,
			"only for clients that take the lock once, because a process draws a token for its whole life: " +
				"write [prove attempts=once"},
		{"proved for any number, contracted for one attempt", "[prove attempts=once budget=crash=any]\ntoken HOLDS",
			contract.Differs, "leave out attempts=once"},
		{"it rests on instants", "[prove attempts=once budget=crash=any]\nredisson-lease HOLDS", contract.Differs,
			`write "instants" after the verdicts`},
		{"no proof", "[prove budget=crash=any]\nzk-naive HOLDS", contract.Inconclusive,
			"there is no proof: the lock lives on a ZooKeeper ensemble"},
		{"no proof, and what occurs is not contracted", "[prove budget=crash=any]\ntoken-wait HOLDS", contract.Differs,
			"DEADLOCK@0 occurs, contracted HOLDS"},
		{"a fault that strikes nowhere", "[prove budget=expire-session=1]\ntoken HOLDS", contract.Inconclusive,
			"there is no proof: expire-session could not be injected"},
		{"a race", "[gc-pause]\ntoken STALE-WRITE OVERLAP", contract.Met, ""},
	} {
		rows, err := contract.Parse("c.txt", c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		p, err := rows[0].Prove(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		if all := text.SayMessages("en", p.Reasons); p.Status != c.answer || !strings.Contains(all, c.reason) ||
			(all == "") != (c.reason == "") {
			t.Errorf("%s: answer %d because %q, want %d because %q", c.rule, p.Status, all, c.answer, c.reason)
		}
		if p.Status == contract.Differs && strings.Contains(c.reason, "OVERLAP takes") &&
			!slices.Contains(p.Outcome.Verdicts, verdict.Overlap) {
			t.Errorf("%s: the witness shows %v", c.rule, p.Outcome.Verdicts)
		}
	}
}

// TestVerify: Verify returns the results in the order of the list, whichever search ends first. Without all searches
// they are short: what each row says is checked by locklab live verify.
func TestVerify(t *testing.T) {
	id := "thread-id"
	if effort.Exhaustive() {
		id = "token"
	}
	var rows []contract.Expectation
	for _, r := range contract.Own() {
		if r.Lock.ID == id {
			rows = append(rows, r)
		}
	}
	var most atomic.Int64
	proofs, err := contract.Verify(t.Context(), rows, &share.Work{Done: func(n int) {
		for old := most.Load(); int64(n) > old && !most.CompareAndSwap(old, int64(n)); old = most.Load() {
		}
	}})
	if err != nil || most.Load() != int64(len(rows)) {
		t.Errorf("%d of %d, %v", most.Load(), len(rows), err)
	}
	for i, p := range proofs {
		if p.Name() != rows[i].Name() || p.Status != contract.Met || p.IsSearch() != (p.Search != nil) ||
			p.IsProof() != (p.Proof != nil) {
			t.Errorf("%s: answer %d, %v", p.Name(), p.Status, text.SayMessages("en", p.Reasons))
		}
	}
}
