package redis_test

import (
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// threadLocal.get() without a token is a NullPointerException there, and an error
// here.
func TestReentrantReleaseWithoutAToken(t *testing.T) {
	e := entry(t, "reentrant-forget")
	s := newTestbed(t, 1)
	a := s.process(t, e, "A")
	outer := must(a.Acquire(t.Context(), "lock"))(t)
	inner := must(a.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, inner, nil)
	mustRelease(t, outer, lock.ErrNotHeld)
}

// Article 001: one ThreadLocal for all keys, set before SET has succeeded. Any further
// attempt of the thread loses the token of the lock that it holds.
func TestThreadLocalForgetsTheTokenOfAHeldLock(t *testing.T) {
	e := entry(t, "threadlocal")
	for _, key := range []string{"lock", "other"} {
		s := newTestbed(t, 1)
		a := s.process(t, e, "A")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		_, err := a.Acquire(t.Context(), key)
		if refused := errors.Is(err, lock.ErrNotAcquired); refused != (key == "lock") {
			t.Errorf("%s: %v", key, err)
		}
		mustRelease(t, lease, lock.ErrNotHeld)
		if n := s.holding(t, "lock"); n != 1 {
			t.Errorf("after an attempt on %s the key is gone", key)
		}
	}
}
