package redis_test

import (
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// The lock goes to the process that tried first, however often others try.
func TestQueueIsFair(t *testing.T) {
	e := entry(t, "queue")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	mustRefuse(t, c, "lock")
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	mustRefuse(t, a, "lock")
	mustRefuse(t, c, "lock")
	lease = must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	mustRefuse(t, a, "lock")
	must(c.Acquire(t.Context(), "lock"))(t)
}

// The first waiter is gone: for a TTL nobody gets the free lock, then the next waiter
// does.
func TestQueueDropsTheSilent(t *testing.T) {
	e := entry(t, "queue")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock") // and gives up
	s.pass(time.Millisecond)
	mustRefuse(t, c, "lock")
	mustRelease(t, lease, nil)
	mustRefuse(t, c, "lock")
	s.pass(e.TTL - 2*time.Millisecond)
	mustRefuse(t, c, "lock")
	s.pass(2 * time.Millisecond)
	lease = must(c.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	if left := s.values(t, 0); len(left) != 0 {
		t.Errorf("%v is left when nobody waits", left)
	}
}

// A waiter that does not try for a TTL loses its place.
func TestQueueSilenceCostsThePlace(t *testing.T) {
	e := entry(t, "queue")
	s := newTestbed(t, 1)
	a, b, c, d := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C"), s.process(t, e, "D")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	mustRefuse(t, c, "lock")
	s.pass(e.TTL / 2)
	mustRefuse(t, b, "lock")
	mustRefuse(t, d, "lock")
	s.pass(e.TTL/2 + time.Millisecond)
	mustRefuse(t, c, "lock")
	mustRelease(t, lease, lock.ErrNotHeld) // its own TTL has ended as well
	mustRelease(t, must(b.Acquire(t.Context(), "lock"))(t), nil)
	mustRefuse(t, c, "lock")
	mustRelease(t, must(d.Acquire(t.Context(), "lock"))(t), nil)
	must(c.Acquire(t.Context(), "lock"))(t)
}

// A list that an administrator deleted is created again.
func TestQueueSurvivesItsList(t *testing.T) {
	_, s, a, b := pair(t, "queue")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	s.deleteKey(t, "lock:queue")
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	must(b.Acquire(t.Context(), "lock"))(t)
}
