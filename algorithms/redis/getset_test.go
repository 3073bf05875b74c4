package redis_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// Article 000 demands synchronised clocks: a client whose clock is ahead by the rest
// of the lease takes a valid lock. now == stamp counts as expired.
func TestGetSetTrustsTheReadersClock(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	must(a.Acquire(t.Context(), "lock"))(t)
	b.clock.Advance(e.TTL - time.Millisecond)
	mustRefuse(t, b, "lock")
	b.clock.Advance(time.Millisecond)
	must(b.Acquire(t.Context(), "lock"))(t)
}

// The class reads the clock once, at the beginning. A pause before the first command
// makes a lock that has already expired when it is created.
func TestGetSetReadsTheClockOnEntry(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	pause := e.TTL + time.Second
	a.conns[0].AddHook(slow("setnx", a.clock, pause))
	b.clock.Advance(pause)
	must(a.Acquire(t.Context(), "lock"))(t)
	must(b.Acquire(t.Context(), "lock"))(t)
}

// Where new Long(…) throws, Acquire returns an error that says why.
func TestGetSetForeignValue(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a := s.process(t, e, "A")
	must(s.admins[0].Set(t.Context(), "lock", "binghe", 0).Result())(t)
	_, err := a.Acquire(t.Context(), "lock")
	if !errors.Is(err, strconv.ErrSyntax) || errors.Is(err, lock.ErrNotAcquired) {
		t.Errorf("Acquire: %v, want %v", err, strconv.ErrSyntax)
	}
}
