package redis_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	onredis "locklab/algorithms/redis"
)

// fenced makes a process with a fenced lock.
func (s *testbed) fenced(t *testing.T, e lock.Entry, name string) *process {
	p := s.process(t, e, name)
	p.Lock = lock.Fence(p.Lock, p.env)
	return p
}

// acquireToken acquires and returns the lease with its fencing token.
func acquireToken(t *testing.T, p *process) (lock.Lease, uint64) {
	t.Helper()
	lease := must(p.Acquire(t.Context(), "lock"))(t)
	fencer, ok := lease.(lock.Fencer)
	if !ok {
		t.Fatalf("%T is no Fencer", lease)
	}
	return lease, fencer.FencingToken()
}

// Every lock on one server can be fenced; on several servers Acquire returns an
// error.
func TestFence(t *testing.T) {
	for _, e := range onredis.All() {
		t.Run(e.ID, func(t *testing.T) {
			s := newTestbed(t, e.Nodes)
			a, b := s.fenced(t, e, "A"), s.fenced(t, e, "B")
			if e.Nodes > 1 {
				if _, err := a.Acquire(t.Context(), "lock"); err == nil || errors.Is(err, lock.ErrNotAcquired) {
					t.Errorf("Acquire: %v, want a refusal to count", err)
				}
				if n := s.holding(t, "lock"); n != 0 {
					t.Errorf("%d servers have the key", n)
				}
				return
			}
			turns := []*process{a, b, a}
			if broken[e.ID][again] != "" {
				turns = turns[:2]
			}
			var last uint64
			for _, p := range turns {
				lease, token := acquireToken(t, p)
				if token <= last {
					t.Errorf("token %d after %d", token, last)
				}
				last = token
				mustRelease(t, lease, nil)
				s.deleteKey(t, "lock") // at-least-for keeps it
			}
		})
	}
}

// The fenced lease is a Reporter if and only if the inner one is; As finds the other
// powers.
func TestFenceKeepsThePowers(t *testing.T) {
	for _, e := range onredis.All() {
		if e.Nodes > 1 {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			s := newTestbed(t, 1)
			bare := must(s.process(t, e, "A").Acquire(t.Context(), "bare"))(t)
			lease, _ := acquireToken(t, s.fenced(t, e, "B"))
			_, want := bare.(lock.Reporter)
			if _, got := lease.(lock.Reporter); got != want {
				t.Errorf("Reporter: %v, want %v", got, want)
			}
			_, want = bare.(lock.Renewer)
			if _, got := lock.As[lock.Renewer](lease); got != want {
				t.Errorf("Renewer: %v, want %v", got, want)
			}
			_, want = bare.(lock.Checker)
			if _, got := lock.As[lock.Checker](lease); got != want {
				t.Errorf("Checker: %v, want %v", got, want)
			}
		})
	}
}

// Without a token there is no lock: it is released, even if the caller has cancelled
// its context.
func TestFenceGivesBackWhatItCannotCount(t *testing.T) {
	e := entry(t, "token")
	s := newTestbed(t, 1)
	a := s.fenced(t, e, "A")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.conns[0].AddHook(&fault{command: "incr", before: cancel, loseRequests: 1})
	if _, err := a.Acquire(ctx, "lock"); !errors.Is(err, errFault) {
		t.Fatalf("Acquire: %v, want the fault", err)
	}
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("the key is still there")
	}
}

// A counter below 0 does not yield tokens.
func TestFenceRefusesASpoiltCounter(t *testing.T) {
	e := entry(t, "token")
	s := newTestbed(t, 1)
	must(s.admins[0].Set(t.Context(), "lock:fence", -7, redis.KeepTTL).Result())(t)
	if _, err := s.fenced(t, e, "A").Acquire(t.Context(), "lock"); err == nil {
		t.Error("a token was drawn from a counter below 0")
	}
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("the key is still there")
	}
}

// The weak point of two commands: A pauses between them for longer than its lease, B
// acquires and draws a token, and then A draws a higher one.
func TestFencePauseBetweenTheTwoCommands(t *testing.T) {
	e := entry(t, "token")
	s := newTestbed(t, 1)
	a, b := s.fenced(t, e, "A"), s.fenced(t, e, "B")
	var holder uint64
	a.conns[0].AddHook(&fault{command: "incr", before: func() {
		s.lapse(e, b)
		_, holder = acquireToken(t, b)
	}})
	_, stale := acquireToken(t, a)
	if stale <= holder {
		t.Errorf("the stale token %d is not above the holder's %d", stale, holder)
	}
}
