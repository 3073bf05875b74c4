package algorithms_test

import (
	"errors"
	"testing"

	"locklab/algorithms"
)

// A pause longer than any TTL does no harm to the one lock without a TTL: it is
// the deadlock's other side.
func TestSetNXSurvivesAPause(t *testing.T) {
	e := entry(t, "setnx")
	s := newStage(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	s.pass(entry(t, "redlock").TTL * 1000)
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	must(b.Acquire(t.Context(), "lock"))(t)
}

// The value is the same for everybody, so a creator whose reply was lost takes its
// own key for somebody else's, for ever.
func TestSetNXLostReplyLocksItsCreatorOut(t *testing.T) {
	e := entry(t, "setnx")
	s := newStage(t, 1)
	a := s.process(t, e, "A")
	a.conns[0].AddHook(&fault{command: "setnx", mute: 1})
	if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) || errors.Is(err, algorithms.ErrNotAcquired) {
		t.Fatalf("Acquire: %v, want the fault: the outcome is open", err)
	}
	mustRefuse(t, a, "lock")
}
