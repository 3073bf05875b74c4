package redis_test

import (
	"errors"
	"testing"
	"time"

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

// The time in the key is compared with the reader's clock: a clock that is ahead by
// more than the lease takes a valid lock. V2 never reads it.
func TestCronV3TrustsTheReadersClock(t *testing.T) {
	for id, takes := range map[string]bool{"cron-v2": false, "cron-v3": true} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		must(a.Acquire(t.Context(), "lock"))(t)
		b.clock.Advance(e.TTL)
		mustRefuse(t, b, "lock")
		b.clock.Advance(time.Millisecond)
		if _, err := b.Acquire(t.Context(), "lock"); (err == nil) != takes {
			t.Errorf("%s: %v, want it to take the lock: %v", id, err, takes)
		}
	}
}

// immortal is a testbed on which a process died between SETNX and EXPIRE, long ago.
func immortal(t *testing.T, e lock.Entry) (*testbed, []*process) {
	t.Helper()
	s := newTestbed(t, 1)
	dead := s.process(t, e, "dead")
	dead.conns[0].AddHook(&fault{command: "expire", loseRequests: 1})
	if _, err := dead.Acquire(t.Context(), "lock"); !errors.Is(err, errFault) {
		t.Fatalf("Acquire: %v, want the fault", err)
	}
	var others []*process
	for _, name := range []string{"B", "C"} {
		p := s.process(t, e, name)
		s.lapse(e, p)
		others = append(others, p)
	}
	return s, others
}

// A loser's GETSET removes the winner's TTL, and the loser sends no EXPIRE: only the
// time in the key still limits the lease.
func TestCronV3LoserWipesTheTTL(t *testing.T) {
	e := entry(t, "cron-v3")
	s, p := immortal(t, e)
	p[1].clock.Advance(time.Second)
	p[1].conns[0].AddHook(&fault{command: "getset", before: func() {
		must(p[0].Acquire(t.Context(), "lock"))(t)
	}})
	mustRefuse(t, p[1], "lock")
	if got := s.ttlLeft(t); got != -1 { // as in TestSetNXExpireErrorLeavesAnImmortalKey
		t.Errorf("PTTL: %v, want -1: no TTL", got)
	}
}

// nil from GETSET means that the key was free: V3 knows that, the class of article 000
// does not.
func TestCronV3TakesAFreeKeyByGetSet(t *testing.T) {
	e := entry(t, "cron-v3")
	s, p := immortal(t, e)
	p[0].conns[0].AddHook(&fault{command: "getset", before: func() { s.deleteKey(t, "lock") }})
	must(p[0].Acquire(t.Context(), "lock"))(t)
}
