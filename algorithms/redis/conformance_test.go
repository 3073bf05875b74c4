package redis_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
)

type rule struct {
	name string
	why  string
	play func(testing.TB, *stage, lock.Entry)
}

// rules hold for every strategy. Each gets empty servers, as many as the strategy
// wants, and plays on the key "lock" with processes of its own.
var rules = []rule{
	{
		name: "a free key is acquired",
		why:  "a lock that nobody can have is safe and useless",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			if n := s.holding(t, "lock"); n != e.Nodes {
				t.Errorf("%d of %d servers have the key", n, e.Nodes)
			}
		},
	},
	{
		name: "a held key is refused, and untouched",
		why:  "the attempt of a loser must not change the winner's lock",
		play: func(t testing.TB, s *stage, e lock.Entry) {
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
		why:  "what stays behind keeps the next client out, or lets a quorum be missed",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			lease := must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			mustRelease(t, lease, nil)
			if n := s.holding(t, "lock"); n != 0 {
				t.Errorf("%d servers still have the key", n)
			}
		},
	},
	{
		name: "a released key can be acquired again, by others and by the same",
		why:  "a Strategy is used again and again",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			a, b := s.process(t, e, "A"), s.process(t, e, "B")
			for _, p := range []*process{a, b, a} {
				mustRelease(t, must(p.Acquire(t.Context(), "lock"))(t), nil)
			}
		},
	},
	{
		name: "two keys are two locks",
		why:  "nothing of a lease may be kept in the Strategy",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			a, b := s.process(t, e, "A"), s.process(t, e, "B")
			held := must(a.Acquire(t.Context(), "lock"))(t)
			must(a.Acquire(t.Context(), "other"))(t)
			mustRelease(t, held, nil)
			must(b.Acquire(t.Context(), "lock"))(t)
			mustRefuse(t, b, "other")
		},
	},
	{
		name: "the key has a TTL where the server is to end the lease",
		why:  "Entry.Expiry is what a reader relies on",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			for i, admin := range s.admins {
				left := must(admin.PTTL(t.Context(), "lock").Result())(t)
				// A real server's clock runs on while we look: half is enough.
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
		play: func(t testing.TB, s *stage, e lock.Entry) {
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
		name: "a late release is refused, or takes the successor's key: never in between",
		why:  "the answer of Release and what it did must agree",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			if e.Expiry == lock.ExpiryNone {
				return // what never ends is never released late
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
		name: "a Reporter misses a key that a stranger deleted, others say so or nothing",
		why:  "Reporter is the promise that nil is a statement",
		play: func(t testing.TB, s *stage, e lock.Entry) {
			lease := must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			s.steal(t, "lock")
			err := lease.Release(t.Context())
			_, claims := lease.(lock.Reporter)
			if !errors.Is(err, lock.ErrNotHeld) && (claims || err != nil) {
				t.Errorf("Release: %v, by a Reporter: %v", err, claims)
			}
		},
	},
	{
		name: "servers that do not answer leave the outcome open",
		why:  "to say taken, or not held, would be a guess",
		play: func(t testing.TB, s *stage, e lock.Entry) {
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
		name: "an attempt that was cancelled before it began touches nothing",
		why:  "the context reaches every command",
		play: func(t testing.TB, s *stage, e lock.Entry) {
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

// lapse lets one lease pass, or what is left of the key's TTL if that is more, and
// one unit of the strategy's count of time, on the servers and for p. Whoever else
// there is has stopped: a paused or dead process sees no time. It returns how long
// that was.
func (s *stage) lapse(e lock.Entry, p *process) time.Duration {
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
	forEachRule(t, func(t testing.TB, e lock.Entry) *stage { return newStage(t, e.Nodes) })
}

// forEachRule plays every rule with every strategy on what newStage gives.
func forEachRule(t *testing.T, newStage func(testing.TB, lock.Entry) *stage) {
	for _, e := range algorithms.OnRedis() {
		t.Run(e.ID, func(t *testing.T) {
			for _, rule := range rules {
				t.Run(rule.name, func(t *testing.T) {
					if why, ok := broken[e.ID][rule.name]; ok {
						w := &witness{TB: t}
						if w.watch(func() { rule.play(w, newStage(t, e), e) }); !w.failed {
							t.Errorf("%s keeps the rule, which it is said to break: %s", e.ID, why)
						}
						return
					}
					s := newStage(t, e)
					if s == nil {
						return
					}
					rule.play(t, s, e)
					if t.Failed() {
						t.Log("the rule is there because", rule.why)
					}
				})
			}
		})
	}
}

// A witness sees a test fail without failing.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Error(...any)          { w.failed = true }
func (w *witness) Errorf(string, ...any) { w.failed = true }
func (w *witness) Fatal(...any)          { w.failed = true; runtime.Goexit() }
func (w *witness) Fatalf(string, ...any) { w.failed = true; runtime.Goexit() }

// watch runs f to its end, or to where it fails for good.
func (w *witness) watch(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// broken are the rules that a strategy breaks as it was printed, by name, and why.
// The test fails when one of them is kept after all.
var broken = map[string]map[string]string{
	"mutex": {
		"a free key is acquired":               noServer,
		"a held key is refused, and untouched": noServer,
		"two keys are two locks":               noServer,
		"a dead holder blocks the others for its lease, or for ever without one":    noServer,
		"a Reporter misses a key that a stranger deleted, others say so or nothing": noServer,
		"servers that do not answer leave the outcome open":                         noServer,
	},
	"threadlocal": {"two keys are two locks": oneToken},
	"spin":        {"two keys are two locks": oneToken},
	"reentrant": {
		again: notForgotten, "two keys are two locks": oneToken, "servers that do not answer leave the outcome open": oneToken,
	},
	"reentrant-increment": {
		again: notForgotten, "two keys are two locks": oneToken, "servers that do not answer leave the outcome open": oneToken,
	},
	"reentrant-decrement": {
		again: notForgotten, "two keys are two locks": oneToken, "servers that do not answer leave the outcome open": oneToken,
	},
	"reentrant-refused": {
		again: notForgotten, "two keys are two locks": oneToken, "servers that do not answer leave the outcome open": oneToken,
	},
	"reentrant-forget": {"two keys are two locks": oneToken, "servers that do not answer leave the outcome open": oneToken},
	"reentrant-keyed":  {again: notForgotten},
	"reentrant-asking": {"two keys are two locks": oneToken},
	"spin-reentrant": {
		"a held key is refused, and untouched":                                   secondTry,
		"a dead holder blocks the others for its lease, or for ever without one": secondTry,
		again: notForgotten, "two keys are two locks": oneToken, "servers that do not answer leave the outcome open": oneToken,
	},
	"at-least-for": {
		again: leastTime, "two keys are two locks": leastTime, "a released key is gone from every server": leastTime,
	},
	"lock-delay": {"the key has a TTL where the server is to end the lease": "the key outlives the lease by the delay"},
}

const again = "a released key can be acquired again, by others and by the same"

// Why rules are broken.
const (
	noServer     = "it excludes nobody in another process and knows no server"
	oneToken     = "the thread has one token for all keys"
	notForgotten = "the token outlives the lock, and counts as one"
	leastTime    = "the key stays for its least time"
	secondTry    = "the token of the refused first try counts as the lock"
)

// A rule that nobody has cannot be broken.
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
