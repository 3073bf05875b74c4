package redis_test

import (
	"errors"
	"testing"

	"locklab/algorithms/lock"
)

// Close returns an error if it gets no answer.
func TestCronShutdownFails(t *testing.T) {
	s := newTestbed(t, 1)
	a := s.process(t, entry(t, "cron-v2"), "A")
	must(a.Acquire(t.Context(), "lock"))(t)
	a.conns[0].AddHook(&fault{command: "del", loseRequests: 1})
	if err := a.Strategy.(lock.Closer).Close(t.Context()); !errors.Is(err, errFault) {
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
