package redis_test

import (
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// Article 002: with a token of its own a client cannot release a lock that it
// lost in the meantime. The same holds for all who look and remove in one step.
func TestTokenSparesTheSuccessor(t *testing.T) {
	for _, id := range []string{
		"token", "watch-multi", "watch-del", "delifeq", "delex", "set-ifeq", "thread-id-lua", "client-expiry", "lock-delay", "token-wait", "evalsha", "evalsha-eval", "queue", "at-least-for",
		"daemon-10-owned", "watchdog", "redisson-lease", "redisson-wait", "redlock",
	} {
		e := entry(t, id)
		s := newStage(t, e.Nodes)
		a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
		stale := must(a.Acquire(t.Context(), "lock"))(t)
		s.lapse(e, b)
		must(b.Acquire(t.Context(), "lock"))(t)
		mustRelease(t, stale, lock.ErrNotHeld)
		mustRefuse(t, c, "lock")
	}
}

// Article 002, why a constant will not do: two clients with the same token are
// one client to the script. (Article 004 writes the thread id.)
func TestTokenMustBeUnique(t *testing.T) {
	e := entry(t, "token")
	s := newStage(t, 1)
	a, b := s.process(t, e, "thread 17"), s.process(t, e, "thread 17")
	stale := must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, b)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, stale, nil)
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("B's lock survived")
	}
}

// One process has one lock after another, and the first must not release the next.
func TestTokenIsNewForEachAcquire(t *testing.T) {
	e := entry(t, "token")
	s := newStage(t, 1)
	a := s.process(t, e, "A")
	stale := must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, a)
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, stale, lock.ErrNotHeld)
	mustRelease(t, lease, nil)
}

// A lost reply is no refusal: the key is there, and its creator does not know it
// for its own until the TTL ends.
func TestTokenLostReply(t *testing.T) {
	e := entry(t, "token")
	s := newStage(t, 1)
	a := s.process(t, e, "A")
	a.conns[0].AddHook(&fault{command: "set", mute: 1})
	if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) {
		t.Fatalf("Acquire: %v, want the fault", err)
	}
	mustRefuse(t, a, "lock")
	s.lapse(e, a)
	must(a.Acquire(t.Context(), "lock"))(t)
}
