package redis_test

import (
	"testing"
	"time"
)

// ShedLock keeps the lock for its least time; a later release deletes it.
func TestAtLeastFor(t *testing.T) {
	e := entry(t, "at-least-for")
	least := e.TTL / 4
	for _, tt := range []struct {
		worked, kept time.Duration
	}{
		{0, least},
		{least - time.Millisecond, time.Millisecond},
		{least, 0},
		{e.TTL - time.Millisecond, 0},
	} {
		s := newTestbed(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		s.pass(tt.worked)
		a.clock.Advance(tt.worked)
		mustRelease(t, lease, nil)
		if left := must(s.admins[0].PTTL(t.Context(), "lock").Result())(t); max(left, 0) != tt.kept {
			t.Errorf("released after %v: kept for %v, want %v", tt.worked, left, tt.kept)
		}
		if tt.kept > 0 {
			mustRefuse(t, b, "lock")
			s.pass(tt.kept + time.Millisecond)
		}
		must(b.Acquire(t.Context(), "lock"))(t)
	}
}
