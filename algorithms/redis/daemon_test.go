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

// When each daemon renews, and to which TTL: the three schedules of the articles. The
// rest of the TTL just before a renewal is the margin for a slow message or a pause.
func TestDaemonRhythms(t *testing.T) {
	second := time.Second
	for _, tt := range []struct {
		ids           []string
		first, every  time.Duration
		extend        time.Duration
		margin, later time.Duration
	}{
		{[]string{"daemon-10", "daemon-10-owned", "set-ifeq"}, 10 * second, 10 * second, 30 * second, 20 * second, 20 * second},
		{[]string{"daemon-20", "daemon-20-owned"}, 20 * second, 20 * second, 30 * second, 10 * second, 10 * second},
		{[]string{"daemon-29", "daemon-29-owned"}, 29 * second, 20 * second, 20 * second, second, 0},
	} {
		for _, id := range tt.ids {
			e := entry(t, id)
			s := newTestbed(t, 1)
			a := s.process(t, e, "A")
			must(a.Acquire(t.Context(), "lock"))(t)
			step, margin := tt.first, tt.margin
			for range 3 {
				if a.clock.last != step {
					t.Errorf("%s: the next renewal is %v away, want %v", id, a.clock.last, step)
				}
				if got := s.ttlLeft(t) - step; got != margin {
					t.Errorf("%s: the margin is %v, want %v", id, got, margin)
				}
				if margin == 0 {
					break // who is first in that millisecond is not the daemon's to say
				}
				s.wait(a, step)
				if got := s.ttlLeft(t); got != tt.extend {
					t.Errorf("%s: %v left after a renewal, want %v", id, got, tt.extend)
				}
				step, margin = tt.every, tt.later
			}
		}
	}
}

// There is one daemon for each key, and a new one after an error has ended it.
func TestDaemon20StartsOnce(t *testing.T) {
	e := entry(t, "daemon-20")
	s := newTestbed(t, 1)
	a := s.process(t, e, "A")
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
