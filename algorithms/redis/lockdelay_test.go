package redis_test

import (
	"errors"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// After a lease that ended by itself the lock stays blocked for the delay, after a
// release it does not; and its holder knows by its own clock that the lease is over.
func TestLockDelay(t *testing.T) {
	e, s, a, b := pair(t, "lock-delay")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	checker, _ := lock.As[lock.Checker](lease)
	for _, tt := range []struct {
		pass    time.Duration
		held    error
		refused bool
	}{
		{e.TTL - time.Millisecond, nil, true},
		{time.Millisecond, lock.ErrNotHeld, true},
		{e.TTL/2 - time.Millisecond, lock.ErrNotHeld, true},
		{2 * time.Millisecond, lock.ErrNotHeld, false},
	} {
		s.pass(tt.pass)
		a.clock.Advance(tt.pass)
		if err := checker.Check(t.Context()); !errors.Is(err, tt.held) {
			t.Errorf("Check %v later: %v, want %v", tt.pass, err, tt.held)
		}
		l, err := b.Acquire(t.Context(), "lock")
		if refused := errors.Is(err, lock.ErrNotAcquired); refused != tt.refused {
			t.Fatalf("Acquire %v later: %v, refused: want %v", tt.pass, err, tt.refused)
		}
		if l != nil {
			mustRelease(t, l, nil)
			must(a.Acquire(t.Context(), "lock"))(t)
		}
	}
}
