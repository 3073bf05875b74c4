package redis_test

import (
	"context"
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// A renewal that fails is the last one in 3.12.5, but not since 3.44. Neither
// continues if the lock belongs to another client.
func TestRedissonRearmsAfterAFailure(t *testing.T) {
	for id, again := range map[string]bool{"watchdog": false, "redisson-rearm": true} {
		e, s, a, _ := pair(t, id)
		must(a.Acquire(t.Context(), "lock"))(t)
		a.conns[0].AddHook(&fault{command: "eval", loseRequests: 1})
		s.passThird(e, a)
		if a.clock.armed() != again {
			t.Fatalf("%s: armed after a failure: %v, want %v", id, a.clock.armed(), again)
		}
		if !again {
			continue
		}
		s.passThird(e, a)
		if got := s.ttlLeft(t); got != e.TTL {
			t.Errorf("%s: %v left after the renewal that followed, want %v", id, got, e.TTL)
		}
		s.deleteKey(t, "lock")
		s.passThird(e, a)
		if a.clock.armed() {
			t.Errorf("%s: the watchdog of a lost lock goes on", id)
		}
	}
}

// 3.12.5 keeps the entry of a watchdog that has ended: the next lock of that key in
// that process relies on it, and its lease ends without a renewal. An unlock in
// between removes the entry.
func TestRedissonEntryOutlivesItsWatchdog(t *testing.T) {
	e := entry(t, "redisson-entry")
	for _, unlocks := range []bool{false, true} {
		s := newTestbed(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		a.conns[0].AddHook(&fault{command: "eval", loseRequests: 1})
		s.passThird(e, a)
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

// One watchdog renews all holds of a key, and ends with the last of them.
func TestRedissonEntryServesAllHolds(t *testing.T) {
	e, s, a, _ := pair(t, "redisson-entry")
	outer := must(a.Acquire(t.Context(), "lock"))(t)
	inner := must(a.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, inner, nil)
	s.passThird(e, a) // exactly one timer is due
	if got := s.ttlLeft(t); got != e.TTL {
		t.Errorf("%v left: the outer hold is not renewed", got)
	}
	mustRelease(t, outer, nil)
	if a.clock.armed() {
		t.Error("the watchdog is armed after the last release")
	}
}

// The key that no replica has is deleted even if the caller has cancelled its context.
func TestTokenWaitGivesBackForACallerWhoLeft(t *testing.T) {
	e := entry(t, "token-wait")
	s := newTestbed(t, 1)
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

// A lease that has a fencing token of its own keeps it.
func TestFenceKeepsTokens(t *testing.T) {
	for _, id := range []string{"redisson-fenced", "redislock-fence"} {
		_, s, a, _ := pair(t, id)
		for want := range uint64(2) {
			lease := must(lock.Fence(a, a.env).Acquire(t.Context(), "lock"))(t)
			if got := lease.(lock.Fencer).FencingToken(); got != want+1 {
				t.Errorf("%s: token %d, want %d", id, got, want+1)
			}
			mustRelease(t, lease, nil)
		}
		if n := s.holding(t, "lock:fence"); id == "redisson-fenced" && n != 0 {
			t.Errorf("%s: there is a second counter", id)
		}
	}
}
