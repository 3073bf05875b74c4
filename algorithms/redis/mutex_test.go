package redis_test

import (
	"testing"

	"locklab/algorithms/lock"
)

// Article 003: synchronized excludes the threads of one process, and nothing else.
func TestMutexEndsAtTheProcess(t *testing.T) {
	_, _, a, b := pair(t, "mutex")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, a, "lock")
	must(a.Acquire(t.Context(), "other"))(t)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	mustRelease(t, lease, lock.ErrNotHeld)
	must(a.Acquire(t.Context(), "lock"))(t)
}
