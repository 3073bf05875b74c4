package explore_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// acquiring is a strategy made of a function; its leases are released by a DEL.
type acquiring func(ctx context.Context, key string) error

// Acquire implements lock.Strategy.
func (s acquiring) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if err := s(ctx, key); err != nil {
		return nil, err
	}
	return releasing{}, nil
}

type releasing struct{}

// Release implements lock.Lease.
func (releasing) Release(context.Context) error { return nil }

// searchOf searches a lock with two clients and one attempt each.
func searchOf(t *testing.T, budget string, timing *explore.Durations, create func(env lock.Env) lock.Strategy) *explore.Result {
	t.Helper()
	allowed, err := faults.Budget(budget).Parse()
	if err != nil {
		t.Fatal(err)
	}
	const ttl = 9 * time.Second
	r, err := explore.Search(t.Context(), &explore.Model{
		Entry:  lock.Entry{ID: "odd", Nodes: 1, Unit: time.Millisecond, TTL: ttl, New: create},
		Faults: allowed, Timing: timing,
		Scope: explore.Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: ttl, Limits: explore.Limits{MaxStates: 20_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// set is SET NX PX with an error that hides its cause.
func set(ctx context.Context, r redis.UniversalClient, key string) error {
	switch err := r.Do(ctx, "SET", key, "locked", "NX", "PX", 9000).Err(); {
	case errors.Is(err, redis.Nil):
		return lock.ErrNotAcquired
	case err != nil:
		return errors.New("the lock is out of order")
	}
	return nil
}

// TestProbeEnds: a lock that answers errors for ever is a deadlock, and the probe says which. An
// error is none that the lock mends itself.
func TestProbeEnds(t *testing.T) {
	wrong := func(ctx context.Context, env lock.Env, key string) error {
		return env.Nodes[0].Eval(ctx, `return redis.call("INCR", KEYS[2])`, []string{key}).Err()
	}
	for _, c := range []struct {
		name, budget string
		deadlock     bool
		lock         func(env lock.Env) lock.Strategy
	}{
		{"a script with an error", "", true, func(env lock.Env) lock.Strategy {
			return acquiring(func(ctx context.Context, key string) error { return wrong(ctx, env, key) })
		}},
		{"an error before any request", "", true, func(env lock.Env) lock.Strategy {
			return acquiring(func(context.Context, string) error { return errors.New("no") })
		}},
		{"an error until it has been asked three times", "", false, func(env lock.Env) lock.Strategy {
			asked := 0
			return acquiring(func(ctx context.Context, key string) error {
				if asked++; asked <= 3 {
					return wrong(ctx, env, key)
				}
				return set(ctx, env.Nodes[0], key)
			})
		}},
		{"no answer, for longer than many leases", "hang=1@5m", false, func(env lock.Env) lock.Strategy {
			return acquiring(func(ctx context.Context, key string) error { return set(ctx, env.Nodes[0], key) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := searchOf(t, c.budget, nil, c.lock)
			i := slices.IndexFunc(r.Found, func(w explore.Witness) bool { return w.Verdict == verdict.Deadlock })
			if !r.Complete || (i >= 0) != c.deadlock {
				t.Errorf("complete %t after %d states, %q; want a deadlock: %t", r.Complete, r.States, r.Pars(), c.deadlock)
			}
		})
	}
}
