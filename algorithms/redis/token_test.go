package redis_test

import (
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// Article 002: with a unique token a client cannot release a lock that it has lost in
// the meantime. The same holds for all locks that check and delete in one step.
func TestTokenSparesTheSuccessor(t *testing.T) {
	for _, id := range []string{
		"token", "watch-multi", "watch-del", "delifeq", "delex", "set-ifeq", "thread-id-lua", "client-expiry", "lock-delay", "token-wait", "evalsha", "evalsha-eval", "queue", "at-least-for",
		"daemon-10-owned", "watchdog", "redisson-lease", "redisson-wait", "redlock",
	} {
		e := entry(t, id)
		s := newTestbed(t, e.Nodes)
		a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
		stale := must(a.Acquire(t.Context(), "lock"))(t)
		s.lapse(e, b)
		must(b.Acquire(t.Context(), "lock"))(t)
		mustRelease(t, stale, lock.ErrNotHeld)
		mustRefuse(t, c, "lock")
	}
}

// Article 002, why a constant is not enough: two clients with the same token are one
// client to the script. (Article 004 writes the thread id.)
func TestTokenMustBeUnique(t *testing.T) {
	e := entry(t, "token")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "thread 17"), s.process(t, e, "thread 17")
	stale := must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, b)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, stale, nil)
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("B's lock survived")
	}
}

// One process takes the lock twice in a row, and the first lease must not release the
// second.
func TestTokenIsNewForEachAcquire(t *testing.T) {
	e := entry(t, "token")
	s := newTestbed(t, 1)
	a := s.process(t, e, "A")
	stale := must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, a)
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, stale, lock.ErrNotHeld)
	mustRelease(t, lease, nil)
}

// A lost reply is no refusal: the key exists, and its creator does not know that it is
// its own until the TTL ends.
func TestTokenLostReply(t *testing.T) {
	e := entry(t, "token")
	s := newTestbed(t, 1)
	a := s.process(t, e, "A")
	a.conns[0].AddHook(&fault{command: "set", loseReplies: 1})
	if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) {
		t.Fatalf("Acquire: %v, want the fault", err)
	}
	mustRefuse(t, a, "lock")
	s.lapse(e, a)
	must(a.Acquire(t.Context(), "lock"))(t)
}
