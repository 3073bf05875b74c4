package redis_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// Where new Long(…) throws, Acquire returns an error that says why.
func TestGetSetForeignValue(t *testing.T) {
	_, s, a, _ := pair(t, "getset")
	must(s.admins[0].Set(t.Context(), "lock", "binghe", 0).Result())(t)
	_, err := a.Acquire(t.Context(), "lock")
	if !errors.Is(err, strconv.ErrSyntax) || errors.Is(err, lock.ErrNotAcquired) {
		t.Errorf("Acquire: %v, want %v", err, strconv.ErrSyntax)
	}
}

// Close returns an error if it gets no answer.
func TestCronShutdownFails(t *testing.T) {
	s := newTestbed(t, 1)
	a := s.process(t, entry(t, "cron-v2"), "A")
	must(a.Acquire(t.Context(), "lock"))(t)
	a.conns[0].AddHook(&fault{command: "del", loseRequests: 1})
	if err := a.Lock.(lock.Closer).Close(t.Context()); !errors.Is(err, errFault) {
		t.Errorf("Close: %v, want the fault", err)
	}
}

// Article 001's spin waits until its limit, on the client's clock.
func TestSpin(t *testing.T) {
	_, _, a, b := pair(t, "spin")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	start := b.clock.Now()
	if mustRefuse(t, b, "lock"); b.clock.Since(start) != time.Second {
		t.Errorf("gave up after %v", b.clock.Since(start))
	}
	tries := 0
	b.conns[0].AddHook(&fault{command: "set", before: func() {
		if tries++; tries == 3 {
			mustRelease(t, lease, nil)
		}
	}})
	if must(b.Acquire(t.Context(), "lock"))(t); tries != 3 {
		t.Errorf("acquired at try %d, want the one after the release", tries)
	}
}

// Article 003: SETNX may succeed and EXPIRE fail, and the deadlock is back. Article
// 004 prints the try block after EXPIRE, so nothing deletes the key either.
func TestSetNXExpireErrorLeavesAnImmortalKey(t *testing.T) {
	e, s, a, b := pair(t, "setnx-expire")
	a.conns[0].AddHook(&fault{command: "expire", loseRequests: 1})
	if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) {
		t.Fatalf("Acquire: %v, want the fault", err)
	}
	// Redis answers -1 for a key without a TTL, and go-redis passes it on as it is.
	if left := must(s.admins[0].PTTL(t.Context(), "lock").Result())(t); left != -1 {
		t.Errorf("PTTL: %v, want -1: no TTL", left)
	}
	s.lapse(e, b)
	mustRefuse(t, b, "lock")
}

// nil from GETSET means that the key was free, which a process had left that died between SETNX and EXPIRE: V3 knows
// that, the class of article 000 does not.
func TestCronV3TakesAFreeKeyByGetSet(t *testing.T) {
	e := entry(t, "cron-v3")
	s := newTestbed(t, 1)
	dead, b := s.process(t, e, "dead"), s.process(t, e, "B")
	dead.conns[0].AddHook(&fault{command: "expire", loseRequests: 1})
	if _, err := dead.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) {
		t.Fatalf("Acquire: %v, want the fault", err)
	}
	s.lapse(e, b)
	b.conns[0].AddHook(&fault{command: "getset", before: func() { s.deleteKey(t, "lock") }})
	must(b.Acquire(t.Context(), "lock"))(t)
}
