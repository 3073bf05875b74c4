package search

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// The attack of a trace goes to another lock, whether or not its own lock is listed:
// what breaks a lock with a lease does not break one without.
func TestAgainst(t *testing.T) {
	named := func(id string) lock.Entry {
		entry := racetest.Must(race.Lock(id))(t)
		return entry
	}
	token := named("token")
	b := DefaultBounds()
	b.Budget = "pause=1"
	s := racetest.Must(Explore(t.Context(), token, b))(t)
	search := s.Witnesses[0].Trace
	search.Lock = "TestMyLock"
	played := racetest.Must(Demo())(t)
	run := played.Trace
	run.Lock = "TestMyLock"
	for name, want := range map[string]verdict.Word{"token": verdict.Overlap, "watchdog": verdict.Overlap, "setnx": verdict.Holds} {
		entry := named(name)
		o := racetest.Must(Against(entry, search))(t)
		if !slices.Contains(o.Verdicts, want) || len(o.NotInjected) > 0 {
			t.Errorf("the search's schedule makes of %s %v, want %s (not injected: %v)", name, o.Verdicts, want, o.NotInjected)
		}
		again, err := ReplayOn(entry, o.Trace)
		if err != nil || !slices.Equal(again.Verdicts, o.Verdicts) {
			t.Errorf("%s: the link of the run leads to %v, %v", name, again, err)
		}
		if o, err = Against(entry, run); err != nil || !slices.Contains(o.Verdicts, want) {
			t.Errorf("the race makes of %s %v, %v, want %s", name, o.Verdicts, err, want)
		}
	}
	if o, err := Against(named("redlock"), search); err != nil || o.History.Nodes != 3 {
		t.Errorf("on several servers: %v, %v", o, err)
	}
	search.Settings = "nonsense"
	if _, err := Against(token, search); err == nil {
		t.Error("settings that make no sense are accepted")
	}
}

// sleepy is a lock that sleeps in real time, as a library does that tries again.
type sleepy struct{ lock.Lock }

func (s sleepy) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	time.Sleep(30 * time.Millisecond)
	return s.Lock.Acquire(ctx, key)
}

// Code that waits otherwise than by its Env is named, and nothing is proved.
func TestRealTime(t *testing.T) {
	token := racetest.Must(race.Lock("token"))(t)
	entry := token.Variant("sleepy", 2026, func(env lock.Env) lock.Lock { return sleepy{token.New(env)} })
	s, err := Explore(t.Context(), entry, DefaultBounds())
	waits := (*process.WaitError)(nil)
	if !errors.As(err, &waits) || waits.State != "sleep" || s != nil {
		t.Errorf("%v, %v: want a WaitError", s, err)
	}
}
