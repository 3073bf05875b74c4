package study_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestErrorsForEver: a lock whose script always fails is a deadlock, of which the run has a
// finding with the last attempt of the probe; the search ends.
func TestErrorsForEver(t *testing.T) {
	entry := lock.Entry{ID: "out-of-order", Nodes: 1, Unit: time.Millisecond, TTL: 9 * time.Second, New: func(env lock.Env) lock.Strategy {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			return nil, env.Nodes[0].Eval(ctx, `return redis.call("INCR")`, []string{key}).Err()
		})
	}}
	for _, timing := range []study.Mode{study.Lockstep, study.AnyTiming} {
		b := small(entry, 2, 1, "")
		b.Timing, b.MaxStates = timing, 20_000
		s := explored(t, entry, b)
		i := slices.IndexFunc(s.Found, func(w explore.Witness) bool { return w.Verdict == verdict.Deadlock })
		if !s.Complete || i < 0 {
			t.Fatalf("%v: complete %t after %d states, %v", timing, s.Complete, s.States, s.Pars())
		}
		o, err := study.ReplayOn(entry, s.Witnesses[i].Trace)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
			return f.Verdict == verdict.Deadlock && f.Forever && o.History.Events[f.Event].Note == explore.ProbeFailed
		}) {
			t.Errorf("%v: no finding of the DEADLOCK: %+v", timing, o.Judgement.Findings)
		}
	}
}
