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
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// TestShortestWay: faults count before steps. So a search may reach a state first by a
// late fault at the end of a long way, and only later by an early one. c1 sends many
// commands before it sets the guard without which the probe is stuck; it can crash at its
// first command, and at its last.
func TestShortestWay(t *testing.T) {
	ctx := context.Background()
	asleep := func(c *simulator.Client) { c.Clock().Sleep(30 * time.Second) }
	budget, err := faults.Budget("crash=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simulator.New(simulator.Config{
		Faults: budget, Nodes: make([]simulator.NodeConfig, 1),
		Clients: []simulator.ClientConfig{
			{Program: func(c *simulator.Client) {
				for range 5 {
					c.Redis(1).Ping(ctx)
				}
				asleep(c)
				c.Redis(1).Set(ctx, "guard", 1, 0)
				c.Record(history.Event{Kind: history.Enter}) // or nobody ever gets in: STARVED
				c.Record(history.Event{Kind: history.Done})
			}},
			{Program: func(c *simulator.Client) {
				asleep(c)
				c.Record(history.Event{Kind: history.Done})
			}},
			{Program: func(c *simulator.Client) {
				if err := c.Redis(1).Get(ctx, "guard").Err(); errors.Is(err, redis.Nil) {
					c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
				}
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	r, err := explore.Exhaust(ctx, sim, explore.Options{Case: history.History{Clients: 3, Nodes: 1, Key: "guard"}, Probe: 3})
	if err != nil {
		t.Fatal(err)
	}
	// c1 and c2 start, c1's first command arrives, c1 dies; 30 s pass, c2 wakes; the
	// probe starts, asks and hears.
	if len(r.Found) != 1 || r.Found[0].Verdict != verdict.Deadlock || r.Found[0].Par != 1 || r.Found[0].Steps != 9 {
		t.Errorf("found %+v, want DEADLOCK by one fault in 9 steps", r.Found)
	}
}

// TestMissedMessage: a search covers both orders of a SUBSCRIBE and a PUBLISH, and the
// arrival of the message before and after its deadline. The probe is refused if the
// message was missed.
func TestMissedMessage(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name    string
		confirm bool // c2 publishes when c1 has told it that it listens
		stuck   bool
	}{
		{"whoever comes first", false, true},
		{"subscribed, then published", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			sim, err := simulator.New(simulator.Config{
				Nodes: make([]simulator.NodeConfig, 1),
				Clients: []simulator.ClientConfig{
					{Program: func(c *simulator.Client) {
						s := c.Redis(1).Subscribe(ctx, "news")
						_, _ = s.Receive(ctx) // the confirmation
						c.Redis(1).Set(ctx, "listens", 1, 0)
						if _, err := s.ReceiveTimeout(until{ctx, c.Clock().Now().Add(5 * time.Second)}, time.Hour); err == nil {
							c.Redis(1).Set(ctx, "heard", 1, 0)
						}
						c.Record(history.Event{Kind: history.Enter}) // or nobody ever gets in: STARVED
						c.Record(history.Event{Kind: history.Done})
					}},
					{Program: func(c *simulator.Client) {
						for test.confirm && c.Redis(1).Exists(ctx, "listens").Val() == 0 {
							c.Clock().Sleep(time.Second)
						}
						c.Redis(1).Publish(ctx, "news", "x")
						c.Record(history.Event{Kind: history.Done})
					}},
					{Program: func(c *simulator.Client) {
						if c.Redis(1).Exists(ctx, "heard").Val() == 0 {
							c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
						}
					}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer sim.Close()
			r, err := explore.Exhaust(ctx, sim, explore.Options{Case: history.History{Clients: 3, Nodes: 1, Key: "lock"}, Probe: 3})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Complete || (len(r.Found) > 0) != test.stuck {
				t.Errorf("complete %v, found %+v, want stuck %v", r.Complete, r.Found, test.stuck)
			}
		})
	}
}

// until is a context whose deadline is the client's own.
type until struct {
	context.Context
	end time.Time
}

func (u until) Deadline() (time.Time, bool) { return u.end, true }

// acquiring is a lock made of a function; its leases are released by a DEL.
type acquiring func(ctx context.Context, key string) error

// Acquire implements lock.Lock.
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
func searchOf(t *testing.T, budget string, timing *explore.Durations, create func(env lock.Env) lock.Lock) *explore.Result {
	t.Helper()
	allowed, err := faults.Budget(budget).Parse()
	if err != nil {
		t.Fatal(err)
	}
	const ttl = 9 * time.Second
	r, err := explore.Search(t.Context(), &explore.Model{
		Entry:  lock.Entry{ID: "odd", Server: lock.OnRedis(1), Unit: time.Millisecond, TTL: ttl, New: create},
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
		lock         func(env lock.Env) lock.Lock
	}{
		{"a script with an error", "", true, func(env lock.Env) lock.Lock {
			return acquiring(func(ctx context.Context, key string) error { return wrong(ctx, env, key) })
		}},
		{"an error before any request", "", true, func(env lock.Env) lock.Lock {
			return acquiring(func(context.Context, string) error { return errors.New("no") })
		}},
		{"an error until it has been asked three times", "", false, func(env lock.Env) lock.Lock {
			asked := 0
			return acquiring(func(ctx context.Context, key string) error {
				if asked++; asked <= 3 {
					return wrong(ctx, env, key)
				}
				return set(ctx, env.Nodes[0], key)
			})
		}},
		{"no answer, for longer than many leases", "hang=1@5m", false, func(env lock.Env) lock.Lock {
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
