package redis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/algorithms/redis"
)

// ttlLeft returns the rest of the lock's TTL.
func (s *testbed) ttlLeft(t *testing.T) time.Duration {
	t.Helper()
	return must(s.admins[0].PTTL(t.Context(), "lock").Result())(t)
}

// passThird lets a third of the TTL pass for the server and for p, whose watchdog is
// due then, and waits for the renewal.
func (s *testbed) passThird(e lock.Entry, p *process) {
	s.pass(e.TTL / 3)
	p.clock.tick(e.TTL / 3)
}

// A renewal that is in progress while the lock is released renews nothing and arms no
// timer. This test is for the race detector as much as for the assertions.
func TestWatchdogReleaseDuringRenewal(t *testing.T) {
	e, s, a, _ := pair(t, "watchdog")
	for range 50 {
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		a.clock.Advance(e.TTL / 3) // the renewal begins, in a goroutine of its own
		mustRelease(t, lease, nil)
		<-a.clock.returned
		if a.clock.armed() {
			t.Fatal("the watchdog is armed after Release")
		}
		if n := s.holding(t, "lock"); n != 0 {
			t.Fatal("the key is back after Release")
		}
	}
}

// The last Release publishes on the channel that Redisson's clients listen on; a key
// with a hash tag keeps it.
func TestWatchdogTellsTheWaiters(t *testing.T) {
	_, s, a, _ := pair(t, "watchdog")
	for key, channel := range map[string]string{
		"lock":     "redisson_lock__channel:{lock}",
		"{x}:lock": "redisson_lock__channel:{x}:lock",
	} {
		waiter := s.admins[0].Subscribe(t.Context(), channel)
		defer waiter.Close()
		must(waiter.Receive(t.Context()))(t) // the server has the subscription
		mustRelease(t, must(a.Acquire(t.Context(), key))(t), nil)
		if got := must(waiter.ReceiveMessage(t.Context()))(t).Payload; got != "0" {
			t.Errorf("channel %s: message %q, want 0", channel, got)
		}
	}
}

// Every Renewer sets the whole TTL, and returns ErrNotHeld if the lease had ended.
func TestRenewers(t *testing.T) {
	for _, e := range redis.All() {
		s := newTestbed(t, e.Nodes)
		a := s.process(t, e, "A")
		renewer, ok := lock.As[lock.Renewer](must(a.Acquire(t.Context(), "lock"))(t))
		if !ok {
			continue
		}
		s.pass(time.Second)
		if err := renewer.Renew(t.Context()); err != nil {
			t.Errorf("%s: Renew: %v", e.ID, err)
		}
		if got := s.ttlLeft(t); got != e.TTL {
			t.Errorf("%s: %v left after Renew, want %v", e.ID, got, e.TTL)
		}
		s.deleteKey(t, "lock")
		if err := renewer.Renew(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("%s: Renew of a lost lease: %v, want %v", e.ID, err, lock.ErrNotHeld)
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
