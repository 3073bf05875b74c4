package redis_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// abandoned is a testbed with n processes, for all of which the lease of a dead
// process has ended.
func abandoned(t *testing.T, e lock.Entry, n int) (*testbed, []*process) {
	t.Helper()
	s := newTestbed(t, 1)
	must(s.process(t, e, "dead").Acquire(t.Context(), "lock"))(t)
	var others []*process
	for i := range n {
		p := s.process(t, e, fmt.Sprint(i))
		s.lapse(e, p)
		others = append(others, p)
	}
	return s, others
}

// Article 000: C2 and C3 both find the old stamp; C3's DEL deletes the lock that C2
// has just made.
func TestTakeoverByDelLetsTwoIn(t *testing.T) {
	e := entry(t, "takeover-del")
	_, p := abandoned(t, e, 2)
	p[1].conns[0].AddHook(&fault{command: "del", before: func() {
		must(p[0].Acquire(t.Context(), "lock"))(t)
	}})
	must(p[1].Acquire(t.Context(), "lock"))(t)
}

// With GETSET one of the two is refused.
func TestTakeoverByGetSetLetsOneIn(t *testing.T) {
	for _, id := range []string{"getset-timeout", "getset-timeout-ms", "getset-nil", "getset-retry", "getset-retry-ms", "getset-check"} {
		e := entry(t, id)
		_, p := abandoned(t, e, 2)
		p[0].clock.Advance(time.Second) // another stamp
		p[1].conns[0].AddHook(&fault{command: "getset", before: func() {
			must(p[0].Acquire(t.Context(), "lock"))(t)
		}})
		mustRefuse(t, p[1], "lock")
	}
}

// Article 000, "GETSET answers nil": the key was deleted between GET and GETSET. A
// client that only compares the two answers leaves a stamp that nobody holds, for one
// lease; a client that treats nil as a free key takes the lock.
func TestTimestampGetSetNil(t *testing.T) {
	for _, id := range []string{"getset-nil", "getset-timeout", "getset-retry", "getset-retry-ms", "getset-check"} {
		e := entry(t, id)
		s, p := abandoned(t, e, 2)
		p[0].conns[0].AddHook(&fault{command: "getset", before: func() { s.deleteKey(t, "lock") }})
		_, err := p[0].Acquire(t.Context(), "lock")
		if id != "getset-nil" {
			if err != nil {
				t.Errorf("%s: %v", id, err)
			}
			continue
		}
		if !errors.Is(err, lock.ErrNotAcquired) {
			t.Errorf("%s: %v, want a refusal", id, err)
		}
		mustRefuse(t, p[1], "lock")
		p[1].clock.Advance(e.TTL)
		mustRefuse(t, p[1], "lock")
		p[1].clock.Advance(e.Unit)
		must(p[1].Acquire(t.Context(), "lock"))(t)
	}
}

// Article 000, "GET answers nil": one way continues with GETSET and, if another client
// came first, overwrites its stamp; the other goes back to SETNX and overwrites
// nothing.
func TestTimestampGetNil(t *testing.T) {
	for id, spoils := range map[string]bool{"getset-timeout": true, "getset-retry": false} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		c.clock.Advance(5 * time.Second)
		c.conns[0].AddHook(&fault{command: "get", before: func() {
			if lease != nil {
				mustRelease(t, lease, nil)
				lease = nil
			}
		}})
		c.conns[0].AddHook(&fault{command: "getset", before: func() {
			must(b.Acquire(t.Context(), "lock"))(t)
		}})
		_, err := c.Acquire(t.Context(), "lock")
		if refused := errors.Is(err, lock.ErrNotAcquired); refused != spoils {
			t.Errorf("%s: %v, refused: want %v", id, err, spoils)
		}
		// The stamp is C's in either case: as that of the holder, or of the loser.
		if got, want := s.lockValues(t)[0], fmt.Sprint(c.clock.Now().Unix()); got != want {
			t.Errorf("%s: the key holds %s, want %s", id, got, want)
		}
	}
}

// Article 000: stamps of one second hide that the lock was released and taken again
// within that second. F, whose clock is ahead, has read H's stamp; G's is the same.
// Milliseconds fix this, and nothing else.
func TestTimestampPrecision(t *testing.T) {
	for id, both := range map[string]bool{"getset-retry": true, "getset-retry-ms": false} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		h, g, f := s.process(t, e, "H"), s.process(t, e, "G"), s.process(t, e, "F")
		lease := must(h.Acquire(t.Context(), "lock"))(t)
		g.clock.Advance(500 * time.Millisecond)
		f.clock.Advance(e.TTL + time.Second)
		f.conns[0].AddHook(&fault{command: "getset", before: func() {
			mustRelease(t, lease, nil)
			must(g.Acquire(t.Context(), "lock"))(t)
		}})
		_, err := f.Acquire(t.Context(), "lock")
		if errors.Is(err, lock.ErrNotAcquired) == both {
			t.Errorf("%s: %v, want both to hold: %v", id, err, both)
		}
	}
}

// Article 000 says that the loser's stamp does no harm, and tells the holder to check
// for its own. Together: the holder of a lock that nobody took believes that it has
// lost it, and leaves the key, which blocks everybody for a lease.
func TestSelfCheckTrustsTheLosersStamp(t *testing.T) {
	e := entry(t, "getset-check")
	s, p := abandoned(t, e, 2)
	p[1].clock.Advance(time.Second)
	var lease lock.Lease
	p[1].conns[0].AddHook(&fault{command: "getset", before: func() {
		lease = must(p[0].Acquire(t.Context(), "lock"))(t)
		checker, _ := lock.As[lock.Checker](lease)
		if err := checker.Check(t.Context()); err != nil {
			t.Errorf("Check before the loser's write: %v", err)
		}
	}})
	mustRefuse(t, p[1], "lock")
	checker, _ := lock.As[lock.Checker](lease)
	if err := checker.Check(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("Check: %v, want %v", err, lock.ErrNotHeld)
	}
	mustRelease(t, lease, lock.ErrNotHeld)
	if n := s.holding(t, "lock"); n != 1 {
		t.Error("the key is gone, though its holder did not delete it")
	}
	mustRefuse(t, p[0], "lock")
}
