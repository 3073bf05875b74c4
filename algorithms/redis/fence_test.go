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

// TestFence: every lock on one server can be fenced, and its lease keeps its powers: it is a Reporter if and only if
// the inner one is, As finds the others. On several servers Acquire returns an error.
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
			bare := must(s.process(t, e, "C").Acquire(t.Context(), "bare"))(t)
			var last uint64
			for _, p := range turns {
				lease, token := acquireToken(t, p)
				if token <= last {
					t.Errorf("token %d after %d", token, last)
				}
				last = token
				if got, want := powers(lease), powers(bare); got != want {
					t.Errorf("%+v, and without a token %+v", got, want)
				}
				mustRelease(t, lease, nil)
				s.deleteKey(t, "lock") // at-least-for keeps it
			}
			if n := s.holding(t, "lock:fence"); e.ID == "redisson-fenced" && n != 0 {
				t.Error("there is a second counter")
			}
		})
	}
}

// powers are those of a lease: Reporter, Renewer, Checker.
func powers(l lock.Lease) (all [3]bool) {
	_, all[0] = l.(lock.Reporter)
	_, all[1] = lock.As[lock.Renewer](l)
	_, all[2] = lock.As[lock.Checker](l)
	return all
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
