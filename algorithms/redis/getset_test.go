package redis_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// Article 000, the bug that its author ran into: between GET and GETSET the key is
// deleted, GETSET answers nil, and the client takes that for lost. Its stamp stays,
// and for one lease nobody can acquire the lock although nobody holds it.
func TestGetSetNilLeavesAPhantom(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	old := must(a.Acquire(t.Context(), "lock"))(t)
	for _, p := range []*process{b, c} {
		s.lapse(e, p)
	}
	b.conns[0].AddHook(&fault{command: "getset", before: func() { mustRelease(t, old, nil) }})

	mustRefuse(t, b, "lock")
	want := strconv.FormatInt(b.clock.Now().Add(e.TTL).UnixMilli(), 10)
	if got := s.values(t, 0)["lock"]; got != want {
		t.Errorf("the key holds %q, want the loser's stamp %s", got, want)
	}
	mustRefuse(t, c, "lock")
	c.clock.Advance(e.TTL - time.Millisecond)
	mustRefuse(t, c, "lock")
	c.clock.Advance(time.Millisecond)
	must(c.Acquire(t.Context(), "lock"))(t)
}

// Article 000: of two clients that saw the same old stamp, GETSET lets one win. It
// says that the loser's write does no harm; but the loser's stamp stays.
func TestGetSetLoserOverwritesTheWinner(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, b)
	s.lapse(e, c)
	c.clock.Advance(5 * time.Second)
	c.conns[0].AddHook(&fault{command: "getset", before: func() {
		must(b.Acquire(t.Context(), "lock"))(t)
	}})
	mustRefuse(t, c, "lock")
	want := strconv.FormatInt(c.clock.Now().Add(e.TTL).UnixMilli(), 10)
	if got := s.values(t, 0)["lock"]; got != want {
		t.Errorf("the key holds %q, want C's stamp %s although B holds the lock", got, want)
	}
}

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

// releaseLock of article 000 reports whether DEL removed a key, not whose it was.
func TestGetSetReleaseLies(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	stale := must(a.Acquire(t.Context(), "lock"))(t)
	s.lapse(e, b)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, stale, nil)
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("B's lock survived")
	}
}

// A GET on a key that was released since SETNX is a refusal, without another attempt.
func TestGetSetDoesNotTryAgain(t *testing.T) {
	e := entry(t, "getset")
	s := newTestbed(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	b.conns[0].AddHook(&fault{command: "get", before: func() { mustRelease(t, lease, nil) }})
	mustRefuse(t, b, "lock")
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("the key is back")
	}
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
