package redis_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Article 002, step 2: after any failure of a server the client continues with the next one immediately, and two of
// five may fail. The quorum is that of the servers in Env.
func TestRedlockSurvivesAMinority(t *testing.T) {
	e := entry(t, "redlock")
	for _, servers := range []int{e.Nodes, 3} {
		for dead := range servers {
			s := newTestbed(t, servers)
			a, b := s.process(t, e, "A"), s.process(t, e, "B")
			for _, p := range []*process{a, b} {
				for _, c := range p.conns[:dead] {
					c.Close()
				}
			}
			lease, err := a.Acquire(t.Context(), "lock")
			if dead > servers/2 {
				if !errors.Is(err, redis.ErrClosed) || errors.Is(err, lock.ErrNotAcquired) {
					t.Errorf("%d of %d dead: %v, want the servers' errors", dead, servers, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%d of %d dead: %v", dead, servers, err)
			}
			mustRefuse(t, b, "lock")
			mustRelease(t, lease, nil)
		}
	}
}

// Article 002, step 5: a client that failed deletes its token everywhere, also if its caller has cancelled the context.
func TestRedlockTakesBackWhatItGot(t *testing.T) {
	_, s, a, _ := pair(t, "redlock")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.conns[2].AddHook(&fault{command: "set", before: cancel})
	if _, err := a.Acquire(ctx, "lock"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Acquire: %v, want %v", err, context.Canceled)
	}
	if n := s.holding(t, "lock"); n != 0 {
		t.Errorf("%d servers still have the key", n)
	}
}

// Release says whether the lock was held: a majority still had the token, or could not
// have had it, or it depends on servers that did not answer.
func TestRedlockReleaseCounts(t *testing.T) {
	e := entry(t, "redlock")
	tests := []struct {
		name         string
		gone, silent int
		want         error
	}{
		{"whole", 0, 0, nil},
		{"a minority gone", 2, 0, nil},
		{"a minority silent", 0, 2, nil},
		{"a majority gone", 3, 0, lock.ErrNotHeld},
		{"a majority gone, the rest silent", 3, 2, lock.ErrNotHeld},
		{"two gone, one silent", 2, 1, errFault},
		{"all silent", 0, 5, errFault},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestbed(t, e.Nodes)
			a := s.process(t, e, "A")
			lease := must(a.Acquire(t.Context(), "lock"))(t)
			for _, admin := range s.admins[:tt.gone] {
				must(admin.Del(t.Context(), "lock").Result())(t)
			}
			for _, c := range a.conns[tt.gone : tt.gone+tt.silent] {
				c.AddHook(&fault{command: "eval", loseRequests: 1})
			}
			mustRelease(t, lease, tt.want)
		})
	}
}

// validFor checks that a lease is valid for d, on the clock of its process, and no longer.
func validFor(t *testing.T, what string, a *process, lease lock.Lease, d time.Duration) {
	t.Helper()
	checker, _ := lock.As[lock.Checker](lease)
	a.clock.Advance(d - time.Millisecond)
	if err := checker.Check(t.Context()); err != nil {
		t.Errorf("%s: Check inside the validity of %v: %v", what, d, err)
	}
	a.clock.Advance(time.Millisecond)
	if err := checker.Check(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("%s: Check after the validity of %v: %v", what, d, err)
	}
}

// Article 002, step 3: the time that the servers took must be below the TTL, and step
// 4: the rest is how long the lock may be used. A drift term is subtracted: 1 % of 30 s and 2 ms.
func TestRedlockValidity(t *testing.T) {
	for _, c := range []struct {
		id          string
		took, valid time.Duration // valid 0: refused
	}{
		{"redlock", 0, 30 * time.Second}, {"redlock", 29995 * time.Millisecond, 5 * time.Millisecond},
		{"redlock", 30 * time.Second, 0}, {"redlock-drift", 0, 29698 * time.Millisecond},
	} {
		e, s, a, _ := pair(t, c.id)
		for _, conn := range a.conns {
			conn.AddHook(slow("set", a.clock, c.took/time.Duration(e.Nodes)))
		}
		lease, err := a.Acquire(t.Context(), "lock")
		switch {
		case err == nil:
			validFor(t, c.id, a, lease, c.valid)
		case c.valid > 0 || !errors.Is(err, lock.ErrNotAcquired) || s.holding(t, "lock") > 0:
			t.Errorf("%s after %v: %v, and %d servers have the key", c.id, c.took, err, s.holding(t, "lock"))
		}
	}
}

// Renew succeeds only if a majority still has the token, in time, and the lease has
// not ended in between. If it fails it takes nothing back.
func TestRedlockExtension(t *testing.T) {
	e := entry(t, "redlock-extend")
	drift := e.TTL/100 + 2*time.Millisecond
	tests := []struct {
		name   string
		before func(*testing.T, *testbed, *process)
		want   error
		keys   int  // left
		unsent bool // the keys end when they would have
	}{
		{"whole", func(*testing.T, *testbed, *process) {}, nil, 5, false},
		{"a minority gone", func(t *testing.T, s *testbed, a *process) { s.forget(t, 2) }, nil, 3, false},
		{"a majority gone", func(t *testing.T, s *testbed, a *process) { s.forget(t, 3) }, lock.ErrNotHeld, 2, false},
		{"two gone, one silent", func(t *testing.T, s *testbed, a *process) {
			s.forget(t, 2)
			a.conns[2].AddHook(&fault{command: "eval", loseRequests: 1})
		}, errFault, 3, false},
		{"validity over, keys still there", func(t *testing.T, s *testbed, a *process) {
			a.clock.Advance(e.TTL - drift)
		}, lock.ErrNotHeld, 5, true},
		{"slow beyond the old validity", func(t *testing.T, s *testbed, a *process) {
			a.clock.Advance(e.TTL / 2)
			a.conns[4].AddHook(slow("eval", a.clock, e.TTL/2))
		}, lock.ErrNotHeld, 5, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestbed(t, e.Nodes)
			a := s.process(t, e, "A")
			lease := must(a.Acquire(t.Context(), "lock"))(t)
			renewer, _ := lock.As[lock.Renewer](lease)
			a.clock.Advance(time.Second)
			s.pass(time.Second)
			tt.before(t, s, a)
			if err := renewer.Renew(t.Context()); !errors.Is(err, tt.want) {
				t.Fatalf("Renew: %v, want %v", err, tt.want)
			}
			if n := s.holding(t, "lock"); n != tt.keys {
				t.Errorf("%d servers have the key, want %d", n, tt.keys)
			}
			left := must(s.admins[4].PTTL(t.Context(), "lock").Result())(t)
			if unsent := left == e.TTL-time.Second; unsent != tt.unsent {
				t.Errorf("%v left", left)
			}
			if tt.want == nil {
				validFor(t, tt.name, a, lease, e.TTL-drift)
			}
		})
	}
}

// forget deletes all keys on the first n servers.
func (s *testbed) forget(t *testing.T, n int) {
	t.Helper()
	for _, admin := range s.admins[:n] {
		must(admin.FlushAll(t.Context()).Result())(t)
	}
}

// All servers are asked at once, with goroutines in production: none answers before
// all have been asked. One after the other this would never end.
func TestRedlockParallel(t *testing.T) {
	e, s, a, _ := pair(t, "redlock-parallel")
	a.env.Parallel = lock.Production(e.TTL).Parallel
	a.Lock = e.New(a.env)
	for _, command := range []string{"set", "eval"} {
		var asked sync.WaitGroup
		asked.Add(e.Nodes)
		for _, c := range a.conns {
			c.AddHook(&fault{command: command, before: func() { asked.Done(); asked.Wait() }})
		}
	}
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	if n := s.holding(t, "lock"); n != e.Nodes {
		t.Errorf("%d servers have the key, want %d", n, e.Nodes)
	}
	mustRelease(t, lease, nil)
}

// With three servers down no majority is left: the last server is not asked, and the
// token is deleted only where it was sent.
func TestRedlockFailsFast(t *testing.T) {
	for id, asked := range map[string]int{"redlock-drift": 5, "redlock-failfast": 4} {
		_, s, a, _ := pair(t, id)
		sets, evals := 0, 0
		for i, c := range a.conns {
			c.AddHook(&fault{command: "set", before: func() { sets++ }})
			c.AddHook(&fault{command: "eval", before: func() { evals++ }})
			if i > 0 && i < 4 {
				c.Close()
			}
		}
		if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("%s: %v, want %v", id, err, redis.ErrClosed)
		}
		if sets != asked || evals != asked {
			t.Errorf("%s: asked %d servers and %d to take it back, want %d", id, sets, evals, asked)
		}
		if n := s.holding(t, "lock"); n != 0 {
			t.Errorf("%s: %d servers still have the key", id, n)
		}
	}
}

// One refusal is no majority against: with the votes of the two servers that did not
// answer A would have won. So their errors are the result, not ErrNotAcquired.
func TestRedlockUndecided(t *testing.T) {
	e := entry(t, "redlock")
	s := newTestbed(t, e.Nodes)
	must(s.admins[0].Set(t.Context(), "lock", "B-1", e.TTL).Result())(t)
	a := s.process(t, e, "A")
	for _, c := range a.conns[1:3] {
		c.AddHook(&fault{command: "set", loseRequests: 1})
	}
	_, err := a.Acquire(t.Context(), "lock")
	if !errors.Is(err, errFault) || errors.Is(err, lock.ErrNotAcquired) {
		t.Errorf("Acquire: %v, want the fault", err)
	}
}
