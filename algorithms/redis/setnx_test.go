package redis_test

import (
	"errors"
	"testing"
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
