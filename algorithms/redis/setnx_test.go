package redis_test

import (
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// A pause longer than any TTL does no harm to the one lock without a TTL: that is the
// advantage for which it has the deadlock.
func TestSetNXSurvivesAPause(t *testing.T) {
	e := entry(t, "setnx")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	s.pass(entry(t, "redlock").TTL * 1000)
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	must(b.Acquire(t.Context(), "lock"))(t)
}

// The value is the same for everybody, so a creator whose reply was lost takes its own
// key for another client's, for ever.
func TestSetNXLostReplyLocksItsCreatorOut(t *testing.T) {
	e := entry(t, "setnx")
	s := newTestbed(t, 1)
	a := s.process(t, e, "A")
	a.conns[0].AddHook(&fault{command: "setnx", loseReplies: 1})
	if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) || errors.Is(err, lock.ErrNotAcquired) {
		t.Fatalf("Acquire: %v, want the fault: the outcome is open", err)
	}
	mustRefuse(t, a, "lock")
}

// Article 003: SETNX may succeed and EXPIRE fail, and the deadlock is back. Article
// 004 prints the try block after EXPIRE, so nothing deletes the key either.
func TestSetNXExpireErrorLeavesAnImmortalKey(t *testing.T) {
	e := entry(t, "setnx-expire")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
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

// Article 004: A works for longer than the TTL, B acquires, A's DEL deletes B's lock,
// and a third client enters while B is inside.
func TestSetNXExpireDeletesTheSuccessorsLock(t *testing.T) {
	e := entry(t, "setnx-expire")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	stale := must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, b)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, c, "lock")
	mustRelease(t, stale, nil)
	must(c.Acquire(t.Context(), "lock"))(t)
}

// The reply to EXPIRE is not checked: if the key has gone in between, its creator
// believes in a lock that does not exist.
func TestSetNXExpireIgnoresAMissingKey(t *testing.T) {
	e := entry(t, "setnx-expire")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	a.conns[0].AddHook(&fault{command: "expire", before: func() { s.deleteKey(t, "lock") }})
	must(a.Acquire(t.Context(), "lock"))(t)
	must(b.Acquire(t.Context(), "lock"))(t)
}
