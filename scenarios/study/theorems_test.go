package study_test

import (
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestTheorems: each answer is that of a proof or of a search, and what has neither says why.
func TestTheorems(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks := []lock.Entry{racetest.Lock(t, "setnx"), racetest.Lock(t, "reentrant"), racetest.Lock(t, "zk-naive")}
	table, err := study.FindTheorems(t.Context(), locks, []string{"crash=any", "restart=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"AAAAAF", "FFFAAA", "FFOOOO", "FFFOOO", "UUUUUU", "UUUUUU"}
	letters := map[study.Extent]string{study.Unbounded: "A", study.OneAttempt: "O", study.Bounded: "B", study.Fails: "F", study.Undecided: "U"}
	for l, entry := range locks {
		for k, budget := range table.Budgets {
			got := ""
			for n, word := range explore.Provable {
				one := table.At(l, k, n)
				got += letters[one.Extent]
				if one.Strategy != entry.ID || one.Budget != budget || one.Verdict != word {
					t.Errorf("%s, %s, %s: %+v", entry.ID, budget, word, one)
				}
				if decided := one.Extent == study.Unbounded || one.Extent == study.Fails; !decided && one.Why == "" {
					t.Errorf("%s, %s, %s: no reason", entry.ID, budget, word)
				}
				if proved := one.Extent == study.Unbounded || one.Extent == study.OneAttempt; (one.Lemmas != nil) != proved {
					t.Errorf("%s, %s, %s: lemmas %q", entry.ID, budget, word, one.Lemmas)
				}
				if one.Extent == study.Fails && (one.Trace == "" || one.Clients < 2) {
					t.Errorf("%s, %s, %s: %+v", entry.ID, budget, word, one)
				}
			}
			if got != want[l*len(table.Budgets)+k] {
				t.Errorf("%s, %s: %s, want %s", entry.ID, budget, got, want[l*len(table.Budgets)+k])
			}
		}
	}
	// A key that its owner has left behind stays where it has no time to live.
	if got := strings.Join(table.At(0, 0, 0).Lemmas, " "); got != "inside kept" {
		t.Errorf("setnx, crash=any: lemmas %s", got)
	}
	if got := strings.Join(table.At(1, 0, 3).Lemmas, " "); got != "inside kept ends" {
		t.Errorf("reentrant, crash=any: lemmas %s", got)
	}
}
