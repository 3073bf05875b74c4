package study_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// What bounds leave open is as it is written beside the lock; what is written for one timing says nothing about the other one.
func TestWrittenBeside(t *testing.T) {
	const none = "" // bounds that are given
	for _, test := range []struct {
		id            string
		written       lock.Search
		given, settle string
	}{
		{"reentrant", lock.Search{}, none, "any 2 0 reenter"},
		{"reentrant", lock.Search{Once: true, NoUses: true}, none, "any 1 0 none"},
		{"token", lock.Search{Lockstep: true}, none, "lockstep 2 2 none"},
		{"reentrant", lock.Search{Once: true}, "attempts=3", "any 3 0 reenter"},
		{"reentrant", lock.Search{Once: true}, "uses=none", "any 1 0 none"},
		{"reentrant", lock.Search{Once: true, NoUses: true}, "timing=lockstep", "lockstep 2 0 reenter"},
		{"token", lock.Search{Once: true}, "retries=1", "lockstep 2 1 none"},
		{"token", lock.Search{}, "ttl=10ms", "lockstep 2 0 none"},            // no room for steps
		{"token", lock.Search{Lockstep: true}, "latency=0s", "any 2 0 none"}, // what is for any timing only
	} {
		entry, b := racetest.Lock(t, test.id), open()
		entry.Search = test.written
		err := setAll(&b, test.given)
		b = b.Settled(entry)
		got := fmt.Sprint(b.Timing, " ", b.Attempts, " ", b.Retries, " ", study.FormatUses(b.Uses))
		if err = cmp.Or(err, b.Check(entry)); got != test.settle || err != nil {
			t.Errorf("%+v, %s: %s, want %s; %v", test.written, test.given, got, test.settle, err)
		}
	}
}

// open are the usual bounds, in which all is left open that can be.
func open() study.Bounds {
	b := study.DefaultBounds()
	b.Timing, b.Attempts, b.Uses = study.AutoTiming, study.AutoAttempts, study.AutoUses
	return b
}

// twofold is the token lock beside which two searches are written.
func twofold(t *testing.T) lock.Entry {
	entry := racetest.Lock(t, "token")
	entry.Search = lock.Search{Once: true, Beside: &lock.Search{NoFaults: true}}
	return entry
}

// TestSecondSearch: a second search is made where all is left open, and finds what it finds within its own bounds.
func TestSecondSearch(t *testing.T) {
	s, b := completed(t, twofold(t), open()), open()
	if s.Bounds.Attempts != 1 || len(s.Beside) != 1 || s.Beside[0].Bounds.Attempts != 2 || s.Beside[0].Bounds.Budget != "" || len(s.Cut) > 0 {
		t.Errorf("%v, beside it %d, cut %d:\n%s", s.Bounds, len(s.Beside), len(s.Cut), certificate.Of(s, "en"))
	}
	b.Timing = study.AnyTiming
	if s = explored(t, twofold(t), b); s.Bounds.Attempts != 1 || len(s.Beside) > 0 {
		t.Errorf("with a timing that is given: %v", s.Bounds)
	}
}

// TestInterruptedBeside: what is finished when a search is interrupted stays, with what the one
// beside it has found so far.
func TestInterruptedBeside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	entry, b := twofold(t), open()
	entry.Search.Beside = &lock.Search{}
	b.Progress = func(r *explore.Result) {
		if r.States > 25_000 { // of two attempts
			cancel()
		}
	}
	s, err := study.Explore(ctx, entry, b)
	if !errors.Is(err, study.ErrBeside) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if !s.Complete || s.Bounds.Attempts != 1 || s.Bounds.Timing != study.AnyTiming {
		t.Errorf("%v, complete %t: what was finished is lost", s.Bounds, s.Complete)
	}
	if len(s.Beside) > 0 || len(s.Cut) != 1 || s.Cut[0].Bounds.Attempts != 2 {
		t.Errorf("beside it %d searches are complete, and %d are not", len(s.Beside), len(s.Cut))
	}
	if in := weaker(parsOf(s), parsOf(s.Cut[0])); in != nil {
		t.Errorf("what had been found by then is lost: %v", in)
	}
}
