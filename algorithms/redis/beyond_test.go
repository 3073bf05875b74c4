package redis_test

import (
	"errors"
	"testing"
	"time"

	"locklab/algorithms/lock"
)

// Article 003: synchronized keeps the threads of one process apart, and nobody else.
func TestMutexEndsAtTheProcess(t *testing.T) {
	e := entry(t, "mutex")
	s := newStage(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, a, "lock")
	must(a.Acquire(t.Context(), "other"))(t)
	must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	mustRelease(t, lease, lock.ErrNotHeld)
	must(a.Acquire(t.Context(), "lock"))(t)
}

// Article 001's spin waits for its turn until its limit, in time that the client
// counts. Around the reentrant lock of the same article the second try is in.
func TestSpin(t *testing.T) {
	for id, falls := range map[string]bool{"spin": false, "spin-reentrant": true} {
		e := entry(t, id)
		s := newStage(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		start := b.clock.Now()
		_, err := b.Acquire(t.Context(), "lock")
		if (err == nil) != falls {
			t.Fatalf("%s: %v, want both to hold: %v", id, err, falls)
		}
		if falls {
			continue
		}
		if waited := b.clock.Since(start); waited != time.Second {
			t.Errorf("%s: gave up after %v", id, waited)
		}
		tries := 0
		b.conns[0].AddHook(&fault{command: "set", before: func() {
			if tries++; tries == 3 {
				mustRelease(t, lease, nil)
			}
		}})
		must(b.Acquire(t.Context(), "lock"))(t)
		if tries != 3 {
			t.Errorf("%s: acquired at try %d, want the one after the release", id, tries)
		}
	}
}

// The client's clock says when the lease ends. Behind by a TTL, the server answers
// OK and keeps no key: everybody holds.
func TestClientExpiryBehindTheServer(t *testing.T) {
	e := entry(t, "client-expiry")
	s := newStage(t, 1)
	s.pass(e.TTL + time.Millisecond)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	must(a.Acquire(t.Context(), "lock"))(t)
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("there is a key")
	}
	must(b.Acquire(t.Context(), "lock"))(t)
}

// A lock that was lost stays closed for the delay, one that was given back does
// not; and its holder knows by its own clock that the lease is over.
func TestLockDelay(t *testing.T) {
	e := entry(t, "lock-delay")
	s := newStage(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
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

// The lock goes to who asked first, however often others ask.
func TestQueueIsFair(t *testing.T) {
	e := entry(t, "queue")
	s := newStage(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	mustRefuse(t, c, "lock")
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	mustRefuse(t, a, "lock")
	mustRefuse(t, c, "lock")
	lease = must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	mustRefuse(t, a, "lock")
	must(c.Acquire(t.Context(), "lock"))(t)
}

// The first waiter has gone: for a TTL nobody gets the free lock, then the next does.
func TestQueueDropsTheSilent(t *testing.T) {
	e := entry(t, "queue")
	s := newStage(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock") // and gives up
	s.pass(time.Millisecond)
	mustRefuse(t, c, "lock")
	mustRelease(t, lease, nil)
	mustRefuse(t, c, "lock")
	s.pass(e.TTL - 2*time.Millisecond)
	mustRefuse(t, c, "lock")
	s.pass(2 * time.Millisecond)
	lease = must(c.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	if left := s.values(t, 0); len(left) != 0 {
		t.Errorf("%v is left when nobody waits", left)
	}
}

// Who was silent for a TTL comes back at the end.
func TestQueueSilenceCostsThePlace(t *testing.T) {
	e := entry(t, "queue")
	s := newStage(t, 1)
	a, b, c, d := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C"), s.process(t, e, "D")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	mustRefuse(t, c, "lock")
	s.pass(e.TTL / 2)
	mustRefuse(t, b, "lock")
	mustRefuse(t, d, "lock")
	s.pass(e.TTL/2 + time.Millisecond)
	mustRefuse(t, c, "lock")
	mustRelease(t, lease, lock.ErrNotHeld) // its own TTL has ended as well
	mustRelease(t, must(b.Acquire(t.Context(), "lock"))(t), nil)
	mustRefuse(t, c, "lock")
	mustRelease(t, must(d.Acquire(t.Context(), "lock"))(t), nil)
	must(c.Acquire(t.Context(), "lock"))(t)
}

// A list that an administrator deleted is made anew.
func TestQueueSurvivesItsList(t *testing.T) {
	e := entry(t, "queue")
	s := newStage(t, 1)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	s.steal(t, "lock:queue")
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	must(b.Acquire(t.Context(), "lock"))(t)
}

// ShedLock keeps the lock for its least time, and from then on gives it back.
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
		s := newStage(t, 1)
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
