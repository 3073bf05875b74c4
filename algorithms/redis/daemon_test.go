package redis_test

import (
	"errors"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
)

// wait lets d pass for the server and for p, which has one timer that is due then.
func (s *testbed) wait(p *process, d time.Duration) {
	s.pass(d)
	p.clock.tick(d)
}

// There is one daemon for each key, and a new one after an error has ended it.
func TestDaemon20StartsOnce(t *testing.T) {
	_, s, a, _ := pair(t, "daemon-20")
	f := &fault{command: "expire"}
	a.conns[0].AddHook(f)
	renewals := 0
	f.before = func() { renewals++ }
	for range 3 {
		mustRelease(t, must(a.Acquire(t.Context(), "lock"))(t), nil)
	}
	f.loseRequests = 1
	s.wait(a, 20*time.Second)
	if renewals != 1 || a.clock.armed() {
		t.Fatalf("%d renewals by one daemon, and another to come: %v", renewals, a.clock.armed())
	}
	must(a.Acquire(t.Context(), "lock"))(t)
	s.wait(a, 20*time.Second)
	if renewals != 2 {
		t.Errorf("%d renewals, want a second", renewals)
	}
}

// Every Renewer sets the whole TTL, and returns ErrNotHeld if the lease had ended.
func TestRenewers(t *testing.T) {
	for _, e := range algorithms.OnRedis() {
		s := newTestbed(t, e.Nodes)
		a := s.process(t, e, "A")
		renewer, ok := lock.As[lock.Renewer](must(a.Acquire(t.Context(), "lock"))(t))
		if !ok {
			continue
		}
		s.pass(time.Second)
		if err := renewer.Renew(t.Context()); err != nil {
			t.Errorf("%s: Renew: %v", e.ID, err)
		}
		if got := s.ttlLeft(t); got != e.TTL {
			t.Errorf("%s: %v left after Renew, want %v", e.ID, got, e.TTL)
		}
		s.deleteKey(t, "lock")
		if err := renewer.Renew(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("%s: Renew of a lost lease: %v, want %v", e.ID, err, lock.ErrNotHeld)
		}
	}
}
