package explore_test

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
	"slices"
)

func absent(p *explore.Proof) []verdict.Word {
	return slices.DeleteFunc(slices.Clone(explore.Provable), func(w verdict.Word) bool { return slices.Contains(p.Harms, w) })
}

var locks = strings.Fields(cmp.Or(os.Getenv("LOCKS"), "setnx token"))

func TestInvariantsHold(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, id := range locks {
		for _, budget := range strings.Split(cmp.Or(os.Getenv("BUD"), strings.Join(viewBudgets, ";")), ";") {
			for _, endless := range []bool{false, true}[:1] {
				m := viewModel(t, id, budget)
				start := time.Now()
				proof, err := explore.ProveFor(t.Context(), m, endless, 20_000)
				if err != nil {
					t.Fatal(err)
				}
				if !proof.Closed {
					t.Logf("%s %s: %v", id, budget, proof.Refused)
					continue
				}
				took := time.Since(start)
				start = time.Now()
				size, err := explore.CheckInvariant(t.Context(), m, proof.Invariant, explore.Claim{Absent: absent(proof), Once: !proof.Once.IsZero(), Endless: endless})
				if err != nil {
					t.Errorf("%s %s %t: %d views: %v", id, budget, endless, proof.Views, err)
					continue
				}
				t.Logf("%s %s %t: %d views, %d worlds, %v, %v; %v", id, budget, endless, proof.Views, proof.Worlds, size, took, time.Since(start))
			}
		}
	}
}
