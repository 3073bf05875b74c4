package redis_test

import (
	"context"
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// Who says how long he needs gets no watchdog, and the lease ends with him inside.
func TestRedissonLeaseTime(t *testing.T) {
	e := entry(t, "redisson-lease")
	s := newStage(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	if a.clock.armed() {
		t.Error("there is a watchdog")
	}
	s.lapse(e, b)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, lock.ErrNotHeld)
}

// A renewal that fails is the last one in 3.12.5, and one of many since 3.44.
// Neither goes on when the lock is another's.
func TestRedissonRearmsAfterAFailure(t *testing.T) {
	for id, again := range map[string]bool{"watchdog": false, "redisson-rearm": true} {
		e := entry(t, id)
		s := newStage(t, 1)
		a := s.process(t, e, "A")
		must(a.Acquire(t.Context(), "lock"))(t)
		a.conns[0].AddHook(&fault{command: "eval", lose: 1})
		s.third(e, a)
		if a.clock.armed() != again {
			t.Fatalf("%s: armed after a failure: %v, want %v", id, a.clock.armed(), again)
		}
		if !again {
			continue
		}
		s.third(e, a)
		if got := s.left(t); got != e.TTL {
			t.Errorf("%s: %v left after the renewal that followed, want %v", id, got, e.TTL)
		}
		s.steal(t, "lock")
		s.third(e, a)
		if a.clock.armed() {
			t.Errorf("%s: the watchdog of a lost lock goes on", id)
		}
	}
}

// 3.12.5 keeps the entry of a watchdog that died: the next lock of that key in that
// process trusts it, and its lease ends unrenewed. An unlock in between removes it.
func TestRedissonEntryOutlivesItsWatchdog(t *testing.T) {
	e := entry(t, "redisson-entry")
	for _, unlocks := range []bool{false, true} {
		s := newStage(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		a.conns[0].AddHook(&fault{command: "eval", lose: 1})
		s.third(e, a)
		s.lapse(e, b)
		if unlocks {
			mustRelease(t, lease, lock.ErrNotHeld)
		}
		must(a.Acquire(t.Context(), "lock"))(t)
		if a.clock.armed() != unlocks {
			t.Errorf("after an unlock (%v) there is a watchdog: %v", unlocks, a.clock.armed())
		}
	}
}

// One watchdog serves the holds of a key, and ends with the last of them.
func TestRedissonEntryServesAllHolds(t *testing.T) {
	e := entry(t, "redisson-entry")
	s := newStage(t, 1)
	a := s.process(t, e, "A")
	outer := must(a.Acquire(t.Context(), "lock"))(t)
	inner := must(a.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, inner, nil)
	s.third(e, a) // exactly one timer is due
	if got := s.left(t); got != e.TTL {
		t.Errorf("%v left: the outer hold is not renewed", got)
	}
	mustRelease(t, outer, nil)
	if a.clock.armed() {
		t.Error("the watchdog is armed after the last release")
	}
}

// What to do with the number of replicas that have the key: Redisson drops it,
// token-wait takes the key back when there are none.
func TestWaitForReplicas(t *testing.T) {
	for id, drops := range map[string]bool{"redisson-wait": true, "token-wait": false} {
		e := entry(t, id)
		s := newStage(t, 1)
		s.replicas.Store(0)
		a := s.process(t, e, "A")
		if !drops {
			mustRefuse(t, a, "lock")
			if n := s.holding(t, "lock"); n != 0 {
				t.Errorf("%s: the key is still there", id)
			}
			continue
		}
		must(a.Acquire(t.Context(), "lock"))(t)
	}
}

// A caller who has gone still wants the key back that no replica has.
func TestTokenWaitGivesBackForACallerWhoLeft(t *testing.T) {
	e := entry(t, "token-wait")
	s := newStage(t, 1)
	s.replicas.Store(0)
	a := s.process(t, e, "A")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.conns[0].AddHook(&fault{command: "eval", before: cancel})
	if _, err := a.Acquire(ctx, "lock"); !errors.Is(err, lock.ErrNotAcquired) {
		t.Errorf("Acquire: %v, want %v", err, lock.ErrNotAcquired)
	}
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("the key is still there")
	}
}
