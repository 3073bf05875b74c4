package redis_test

import (
	"testing"

	"locklab/algorithms/lock"
)

// Article 003: synchronized excludes the threads of one process, and nothing else.
func TestMutexEndsAtTheProcess(t *testing.T) {
	e := entry(t, "mutex")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, a, "lock")
	must(a.Acquire(t.Context(), "other"))(t)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	mustRelease(t, lease, lock.ErrNotHeld)
	must(a.Acquire(t.Context(), "lock"))(t)
}
