package redis_test

import (
	"errors"
	"slices"
	"testing"

	"locklab/algorithms/lock"
)

// The defects of article 001's counter. Each check returns true if the defect is
// present.
var reentrancy = []struct {
	defect string
	fixed  string // the variant that fixes it, and no other, besides reentrant-counted
	check  func(*testing.T, *testbed, lock.Entry) bool
}{
	{"a: the inner release frees the lock", "reentrant-increment", func(t *testing.T, s *testbed, e lock.Entry) bool {
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		must(a.Acquire(t.Context(), "lock"))(t)
		inner := must(a.Acquire(t.Context(), "lock"))(t)
		mustRelease(t, inner, nil)
		return acquires(t, b)
	}},
	{"c: after a release the same thread enters without a command", "reentrant-forget", func(t *testing.T, s *testbed, e lock.Entry) bool {
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		mustRelease(t, must(a.Acquire(t.Context(), "lock"))(t), nil)
		must(b.Acquire(t.Context(), "lock"))(t)
		return acquires(t, a)
	}},
	{"d: after a refusal the second attempt enters without a command", "reentrant-refused", func(t *testing.T, s *testbed, e lock.Entry) bool {
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		must(a.Acquire(t.Context(), "lock"))(t)
		mustRefuse(t, b, "lock")
		return acquires(t, b)
	}},
	{"e: Acquire of a second key sends nothing", "reentrant-keyed", func(t *testing.T, s *testbed, e lock.Entry) bool {
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		must(b.Acquire(t.Context(), "lock"))(t)
		must(a.Acquire(t.Context(), "other"))(t)
		return acquires(t, a)
	}},
	{"f: a lease that has ended continues by re-entry", "", func(t *testing.T, s *testbed, e lock.Entry) bool {
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		must(a.Acquire(t.Context(), "lock"))(t)
		s.lapse(e, b)
		must(b.Acquire(t.Context(), "lock"))(t)
		return acquires(t, a)
	}},
}

// acquires says whether p gets the lock.
func acquires(t *testing.T, p *process) bool {
	t.Helper()
	_, err := p.Acquire(t.Context(), "lock")
	if err != nil && !errors.Is(err, lock.ErrNotAcquired) {
		t.Fatal(err)
	}
	return err == nil
}

func TestReentrantDefects(t *testing.T) {
	for _, d := range reentrancy {
		t.Run(d.defect, func(t *testing.T) {
			// Checking the owner before entering again also fixes c, d, e and f.
			fixed := []string{"reentrant-counted", d.fixed}
			if d.fixed != "reentrant-increment" {
				fixed = append(fixed, "reentrant-asking")
			}
			for _, id := range []string{
				"reentrant", "reentrant-increment", "reentrant-decrement", "reentrant-forget",
				"reentrant-refused", "reentrant-keyed", "reentrant-asking", "reentrant-counted",
			} {
				e := entry(t, id)
				if there, want := d.check(t, newTestbed(t, 1), e), !slices.Contains(fixed, id); there != want {
					t.Errorf("%s has the defect: %v, want %v", id, there, want)
				}
			}
		})
	}
}

// Defect b shows once a is fixed: two of two releases delete nothing.
func TestReentrantDecrementIsLost(t *testing.T) {
	for id, deletes := range map[string]bool{"reentrant-increment": false, "reentrant-counted": true} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		a := s.process(t, e, "A")
		outer := must(a.Acquire(t.Context(), "lock"))(t)
		inner := must(a.Acquire(t.Context(), "lock"))(t)
		mustRelease(t, inner, nil)
		mustRelease(t, outer, nil)
		if n := s.holding(t, "lock"); (n == 0) != deletes {
			t.Errorf("%s: %d servers have the key, deleted: want %v", id, n, deletes)
		}
	}
}

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

// GET and DEL are two commands: between them the key becomes B's, and A deletes it.
func TestGetThenDel(t *testing.T) {
	for _, id := range []string{"thread-id", "threadlocal", "reentrant-counted", "getset-check"} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		stale := must(a.Acquire(t.Context(), "lock"))(t)
		a.conns[0].AddHook(&fault{command: "del", before: func() {
			s.lapse(e, b)
			must(b.Acquire(t.Context(), "lock"))(t)
		}})
		mustRelease(t, stale, nil)
		if n := s.holding(t, "lock"); n != 0 {
			t.Errorf("%s: B's lock survived", id)
		}
	}
}

// Article 004 writes the thread's id, which another process may have too: the script
// deletes the wrong lock in one step.
func TestThreadIDIsNoToken(t *testing.T) {
	for _, id := range []string{"thread-id", "thread-id-lua", "daemon-29"} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
		b.env.Thread = a.env.Thread
		b.Strategy = e.New(b.env)
		stale := must(a.Acquire(t.Context(), "lock"))(t)
		s.lapse(e, b)
		must(b.Acquire(t.Context(), "lock"))(t)
		mustRelease(t, stale, nil)
		must(c.Acquire(t.Context(), "lock"))(t)
	}
}
