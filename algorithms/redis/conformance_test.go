package redis_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/algorithms/redis"
)

type rule struct {
	name  string
	why   string
	check func(testing.TB, *testbed, lock.Entry)
}

// rules hold for every lock. Each gets empty servers, as many as the lock
// needs, and uses the key "lock" with processes of its own.
var rules = []rule{
	{
		name: "a free key is acquired",
		why:  "a lock that nobody can acquire is safe and useless",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			if n := s.holding(t, "lock"); n != e.Nodes {
				t.Errorf("%d of %d servers have the key", n, e.Nodes)
			}
		},
	},
	{
		name: "a held key is refused, and unchanged",
		why:  "a refused attempt must not change the holder's lock",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			before := s.lockValues(t)
			mustRefuse(t, s.process(t, e, "B"), "lock")
			if after := s.lockValues(t); !slices.Equal(before, after) {
				t.Errorf("the refusal turned %v into %v", before, after)
			}
		},
	},
	{
		name: "a released key is gone from every server",
		why:  "what stays behind blocks the next client, or makes it miss its quorum",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			lease := must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			mustRelease(t, lease, nil)
			if n := s.holding(t, "lock"); n != 0 {
				t.Errorf("%d servers still have the key", n)
			}
		},
	},
	{
		name: "a released key can be acquired again, by others and by the same",
		why:  "a Lock is used repeatedly",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			a, b := s.process(t, e, "A"), s.process(t, e, "B")
			for _, p := range []*process{a, b, a} {
				mustRelease(t, must(p.Acquire(t.Context(), "lock"))(t), nil)
			}
		},
	},
	{
		name: "two keys are two locks",
		why:  "the state of a lease must not be kept in the Lock",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			a, b := s.process(t, e, "A"), s.process(t, e, "B")
			held := must(a.Acquire(t.Context(), "lock"))(t)
			must(a.Acquire(t.Context(), "other"))(t)
			mustRelease(t, held, nil)
			must(b.Acquire(t.Context(), "lock"))(t)
			mustRefuse(t, b, "other")
		},
	},
	{
		name: "the key has a TTL if the server is to end the lease",
		why:  "readers rely on Entry.Expiry",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			values := s.lockValues(t)
			for i, admin := range s.admins {
				if e.Shards > 0 && values[i] == "" {
					continue // the key is on one of them, as the other rules show
				}
				left := must(admin.PTTL(t.Context(), "lock").Result())(t)
				// The clock of a real server is running: half of the TTL is enough.
				limited := left > e.TTL/2 && left <= e.TTL
				if want := e.Expiry == lock.ExpiryServer; limited != want {
					t.Errorf("server %d: TTL %v of %v, want one: %v", i+1, left, e.TTL, want)
				}
			}
		},
	},
	{
		name: "a dead holder blocks the others for its lease, or for ever without one",
		why:  "deadlock or a bounded wait, as Entry.Expiry says",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			b := s.process(t, e, "B")
			mustRefuse(t, b, "lock")
			s.lapse(e, b)
			_, err := b.Acquire(t.Context(), "lock")
			if e.Expiry == lock.ExpiryNone {
				if !errors.Is(err, lock.ErrNotAcquired) {
					t.Errorf("no lease, and yet it ended: %v", err)
				}
			} else if err != nil {
				t.Errorf("the lease is over, and yet: %v", err)
			}
		},
	},
	{
		name: "a late release is refused, or deletes the successor's key: nothing in between",
		why:  "the result of Release must agree with what it did",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			if e.Expiry == lock.ExpiryNone {
				return // a lease that never ends is never released late
			}
			stale := must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			b := s.process(t, e, "B")
			s.lapse(e, b)
			must(b.Acquire(t.Context(), "lock"))(t)

			err := stale.Release(t.Context())
			switch n := s.holding(t, "lock"); {
			case errors.Is(err, lock.ErrNotHeld) && n == e.Nodes:
			case err == nil && n == 0:
			default:
				t.Errorf("Release: %v, and %d of %d servers have the successor's key", err, n, e.Nodes)
			}
		},
	},
	{
		name: "a Reporter notices that its key was deleted; others may say nothing",
		why:  "Reporter is the promise that nil is a statement",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			lease := must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			s.deleteKey(t, "lock")
			err := lease.Release(t.Context())
			_, claims := lease.(lock.Reporter)
			if !errors.Is(err, lock.ErrNotHeld) && (claims || err != nil) {
				t.Errorf("Release: %v, by a Reporter: %v", err, claims)
			}
		},
	},
	{
		name: "without answers of the servers the outcome is unknown",
		why:  "taken, or not held, would be a guess",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			a := s.process(t, e, "A")
			lease := must(a.Acquire(t.Context(), "lock"))(t)
			for _, c := range a.conns {
				c.Close()
			}
			if err := lease.Release(t.Context()); err == nil || errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("Release: %v", err)
			}
			if _, err := a.Acquire(t.Context(), "other"); err == nil || errors.Is(err, lock.ErrNotAcquired) {
				t.Errorf("Acquire: %v", err)
			}
		},
	},
	{
		name: "an attempt that was cancelled before it began changes nothing",
		why:  "every command gets the context",
		check: func(t testing.TB, s *testbed, e lock.Entry) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := s.process(t, e, "A").Acquire(ctx, "lock"); !errors.Is(err, context.Canceled) {
				t.Errorf("Acquire: %v, want %v", err, context.Canceled)
			}
			if n := s.holding(t, "lock"); n != 0 {
				t.Errorf("%d servers have the key", n)
			}
		},
	},
}

// lapse lets one lease pass, or the rest of the key's TTL if that is longer, plus one
// unit in which the lock counts time, on the servers and for p. The other
// processes are paused or dead: their clocks do not advance. It returns the time that
// has passed.
func (s *testbed) lapse(e lock.Entry, p *process) time.Duration {
	d := e.TTL
	for _, admin := range s.admins {
		d = max(d, admin.PTTL(context.Background(), "lock").Val())
	}
	d += max(e.Unit, time.Millisecond)
	s.pass(d)
	p.clock.Advance(d)
	return d
}

func TestConformance(t *testing.T) {
	forEachRule(t, func(t testing.TB, e lock.Entry) *testbed { return newTestbed(t, e.Servers()) })
}

// forEachRule checks every rule with every lock on what newTestbed returns.
func forEachRule(t *testing.T, newTestbed func(testing.TB, lock.Entry) *testbed) {
	for _, e := range redis.All() {
		t.Run(e.ID, func(t *testing.T) {
			for _, rule := range rules {
				t.Run(rule.name, func(t *testing.T) {
					if why, ok := broken[e.ID][rule.name]; ok {
						w := &failureRecorder{TB: t}
						if w.watch(func() { rule.check(w, newTestbed(t, e), e) }); !w.failed {
							t.Errorf("%s keeps the rule, which it is said to break: %s", e.ID, why)
						}
						return
					}
					s := newTestbed(t, e)
					if s == nil {
						return
					}
					rule.check(t, s, e)
					if t.Failed() {
						t.Log("reason for the rule:", rule.why)
					}
				})
			}
		})
	}
}

// A failureRecorder records that a test fails, without failing.
type failureRecorder struct {
	testing.TB
	failed bool
}

func (w *failureRecorder) Error(...any)          { w.failed = true }
func (w *failureRecorder) Errorf(string, ...any) { w.failed = true }
func (w *failureRecorder) Fatal(...any)          { w.failed = true; runtime.Goexit() }
func (w *failureRecorder) Fatalf(string, ...any) { w.failed = true; runtime.Goexit() }

// watch runs f until it returns or fails fatally.
func (w *failureRecorder) watch(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// broken has, by lock, the rules that it breaks in its published form, and why.
// The test fails if one of them is kept after all.
var broken = map[string]map[string]string{
	"mutex": {
		"a free key is acquired":               noServer,
		"a held key is refused, and unchanged": noServer,
		"two keys are two locks":               noServer,
		"a dead holder blocks the others for its lease, or for ever without one": noServer,
		"a Reporter notices that its key was deleted; others may say nothing":    noServer,
		"without answers of the servers the outcome is unknown":                  noServer,
	},
	"threadlocal": {"two keys are two locks": oneToken},
	"spin":        {"two keys are two locks": oneToken},
	"reentrant":   reentrants, "reentrant-increment": reentrants, "reentrant-decrement": reentrants,
	"reentrant-refused": reentrants,
	"reentrant-forget": {"two keys are two locks": oneToken,
		"without answers of the servers the outcome is unknown": oneToken},
	"reentrant-keyed":  {again: notForgotten},
	"reentrant-asking": {"two keys are two locks": oneToken},
	"spin-reentrant": {
		"a held key is refused, and unchanged":                                   secondTry,
		"a dead holder blocks the others for its lease, or for ever without one": secondTry,
		again: notForgotten, "two keys are two locks": oneToken,
		"without answers of the servers the outcome is unknown": oneToken,
	},
	"at-least-for": {
		again: leastTime, "two keys are two locks": leastTime, "a released key is gone from every server": leastTime,
	},
	"lock-delay": {"the key has a TTL if the server is to end the lease": "the key outlives the lease by the delay"},
}

var reentrants = map[string]string{
	again: notForgotten, "two keys are two locks": oneToken,
	"without answers of the servers the outcome is unknown": oneToken,
}

const again = "a released key can be acquired again, by others and by the same"

// Why rules are broken.
const (
	noServer     = "it excludes nobody in another process and uses no server"
	oneToken     = "the thread has one token for all keys"
	notForgotten = "the token outlives the lock, and counts as the lock"
	leastTime    = "the key stays for the least time"
	secondTry    = "the token of the refused first try counts as the lock"
)

// Every rule in broken exists.
func TestBrokenRulesExist(t *testing.T) {
	for id, rulesOf := range broken {
		entry(t, id)
		for name := range rulesOf {
			if !slices.ContainsFunc(rules, func(r rule) bool { return r.name == name }) {
				t.Errorf("%s breaks %q, which is no rule", id, name)
			}
		}
	}
}
