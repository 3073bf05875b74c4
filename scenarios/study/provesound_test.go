package study_test

import (
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestProveMutants: no verdict that a search of two or three clients finds in a lock with a planted defect is proved absent.
func TestProveMutants(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	t.Parallel()
	defects := tokenDefects()
	if effort.Exhaustive() {
		defects = append(defects, dogDefects()...)
	}
	proved, refuted := 0, 0
	for _, d := range defects {
		if d.at.nodes > 1 || d.at.reenter {
			continue
		}
		entry := own("mutant", d.lock)
		b := small(entry, 2, 2, d.at.budget)
		b.Timing, b.Nodes, b.MaxStates = study.AnyTiming, 1, 10_000
		m, err := withOutsiders(b).Settled(entry).Model(entry)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := explore.ProveFor(t.Context(), m, false, 3_000)
		if err != nil {
			t.Fatal(err)
		}
		if !proof.Closed {
			continue
		}
		proved++
		for _, size := range [][2]int{{2, 2}, {3, 1}} {
			if size[1] > 1 && !proof.Once.IsZero() {
				continue
			}
			b.Clients, b.Attempts = size[0], size[1]
			s := explored(t, entry, b)
			for _, w := range s.Witnesses {
				if !slices.Contains(explore.Provable, w.Verdict) {
					continue
				}
				refuted++
				if !slices.Contains(proof.Harms, w.Verdict) {
					t.Errorf("%s, %s: %s is excluded, and %d clients with %d attempts come to it", d.name, d.at.budget, w.Verdict, size[0], size[1])
				}
			}
		}
	}
	if proved < 5 || refuted < 5 {
		t.Errorf("%d proofs were held against %d witnesses", proved, refuted)
	}
}

// withOutsiders is b with as many clients as views have.
func withOutsiders(b study.Bounds) study.Bounds {
	b.Clients = 2 + explore.Outsiders
	return b
}

// TestProveAgreesWithAModel: an independent model of three locks in whole steps of time, with a lease of six steps and clients
// that come for ever, has the same verdicts. A key that is left for ever, which the model calls an orphan, is a DEADLOCK here.
func TestProveAgreesWithAModel(t *testing.T) {
	t.Parallel()
	asked := []verdict.Word{verdict.Overlap, verdict.WrongDel, verdict.Deadlock}
	for _, c := range []struct {
		id, budget string
		want       []verdict.Word
	}{
		{"setnx", "crash=1", []verdict.Word{verdict.Deadlock}},
		{"constant", "crash=1", nil},
		{"token", "crash=1", nil},
		{"token", "pause=1@4500ms", []verdict.Word{verdict.Overlap}},
		{"token", "crash=1,delay=1@1s", nil},
	} {
		entry := racetest.Lock(t, c.id)
		b := small(entry, 2, 2, c.budget)
		b.Timing, b.Nodes, b.TTL, b.Work, b.Budget = study.AnyTiming, 1, 4500*time.Millisecond, 750*time.Millisecond, faults.Budget(c.budget)
		m, err := withOutsiders(b).Settled(entry).Model(entry)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := explore.ProveFor(t.Context(), m, false, 60_000)
		if err != nil {
			t.Fatal(err)
		}
		var got []verdict.Word
		for _, w := range asked {
			if slices.Contains(proof.Harms, w) {
				got = append(got, w)
			}
		}
		if !proof.Closed || !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: closed %t (%v), %v, the model has %v", c.id, c.budget, proof.Closed, proof.Refused, got, c.want)
		}
	}
}
