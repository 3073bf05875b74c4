package redis_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// The reply to EXPIRE is not checked: if the key has gone in between, its creator
// believes in a lock that does not exist.
func TestSetNXExpireIgnoresAMissingKey(t *testing.T) {
	_, s, a, b := pair(t, "setnx-expire")
	a.conns[0].AddHook(&fault{command: "expire", before: func() { s.deleteKey(t, "lock") }})
	must(a.Acquire(t.Context(), "lock"))(t)
	must(b.Acquire(t.Context(), "lock"))(t)
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
