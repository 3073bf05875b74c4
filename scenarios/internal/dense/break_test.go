package dense

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/algorithms/redis"
	"locklab/scenarios/contract"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
)

// unjudged are the verdicts that cannot be judged: the contract proves them impossible, and no mutant one token away is
// known that comes to them within the same bounds. Nothing is ever added.
var unjudged = map[string]string{
	"setnx":               "LIE",
	"setnx-expire":        "LIE",
	"takeover-del":        "LIE",
	"sharded":             "LIE",
	"constant":            "LIE",
	"watch-multi":         "LIE",
	"reentrant":           "OVERLAP STALE-WRITE DEADLOCK",
	"reentrant-increment": "DEADLOCK",
	"reentrant-decrement": "DEADLOCK",
	"reentrant-forget":    "DEADLOCK",
	"reentrant-keyed":     "DEADLOCK",
	"reentrant-asking":    "DEADLOCK",
	"watch-del":           "WRONG-DEL LIE",
	"redlock":             "DEADLOCK",
	"lock-delay":          "WRONG-DEL",
	"evalsha":             "WRONG-DEL LIE ORPHAN",
	"set-ifeq":            "WRONG-DEL",
}

// parts: of so many parts of the locks the seed chooses one, unless all are asked for, which takes half an hour.
const parts = 6

var allFlag = flag.Bool("all", false, "break the proofs of every lock, not of a sixth of them, which the seed chooses")

// mostSearches bounds those for the mutants of one lock.
const mostSearches = 60

// TestEachProofCanBeBroken: for each lock and verdict that the contract proves impossible there is a mutant one token
// away that comes to it within the bounds of a row.
func TestEachProofCanBeBroken(t *testing.T) {
	effort.OnlyExhaustive(t, "it makes thousands of searches")
	b, shown, all := newBed(t, 20, 6), 0, 0
	for i, e := range redis.All() {
		if !*allFlag && uint64(i)%parts != *seedFlag%parts {
			continue
		}
		open := openOf(e)
		all += len(open)
		listed := strings.Fields(unjudged[e.ID])
		was := len(open)
		open = unbroken(t, b, e, open)
		shown += was - len(open)
		for _, word := range open {
			if !slices.Contains(listed, word) {
				t.Errorf("%s: %s cannot be judged", e.ID, word)
			}
		}
		for _, word := range listed {
			if !slices.Contains(open, word) {
				t.Logf("%s: %s can be judged: take it from the list", e.ID, word)
			}
		}
	}
	t.Logf("a mutant breaks %d of %d proofs", shown, all)
}

// rowsOf are the searches and proofs of a lock in the contract, the cheapest first.
func rowsOf(e lock.Entry) (rows []contract.Expectation) {
	for _, r := range contract.Own() {
		if r.Lock.ID == e.ID && !r.IsRace() {
			rows = append(rows, r)
		}
	}
	cost := func(r contract.Expectation) int {
		return r.Bounds.Clients*r.Bounds.Attempts*max(r.Bounds.Nodes, 1) + len(r.Bounds.Budget)/4
	}
	slices.SortStableFunc(rows, func(a, b contract.Expectation) int { return cost(a) - cost(b) })
	return rows
}

// openOf are the verdicts that some row of a lock proves impossible.
func openOf(e lock.Entry) (open []string) {
	for _, word := range judged {
		if slices.ContainsFunc(rowsOf(e), func(r contract.Expectation) bool { return proves(r, word) }) {
			open = append(open, word)
		}
	}
	return open
}

func proves(r contract.Expectation, word string) bool {
	return !slices.Contains(written(r.Words()), word)
}

// unbroken searches for mutants that come to the verdicts, and returns the verdicts for which it finds none.
func unbroken(t *testing.T, b *bed, e lock.Entry, open []string) []string {
	if len(open) == 0 {
		return nil
	}
	all := mutantsOf(t, b, e)
	guarded := func(m *mutant) bool { return m.guard.name != "" || len(m.breaks()) > 0 || m.Holders > 0 }
	all = slices.DeleteFunc(all, guarded)
	searches := 0
	for _, r := range rowsOf(e) {
		for _, m := range all {
			if !slices.ContainsFunc(open, func(w string) bool { return proves(r, w) }) {
				break
			}
			if searches++; searches > mostSearches {
				return open
			}
			found := comesTo(t, m, r)
			open = slices.DeleteFunc(open, func(w string) bool { return proves(r, w) && slices.Contains(found, w) })
		}
	}
	return open
}

// comesTo are the verdicts that a mutant has within the bounds of a row.
func comesTo(t *testing.T, m *mutant, r contract.Expectation) (found []string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if r.IsProof() {
		p, err := search.Prove(ctx, m.Entry, r.Bounds)
		if err != nil {
			return nil
		}
		for _, w := range p.Witnesses() {
			found = append(found, string(w.Verdict))
		}
		return found
	}
	bounds := r.Bounds
	bounds.MaxStates = 60_000
	if s, _ := search.Explore(ctx, m.Entry, bounds); s != nil {
		found = written(s.Verdicts())
	}
	return found
}
