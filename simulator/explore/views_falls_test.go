package explore_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// A falling lock takes the key by SET NX, and does something wrong that few clients, attempts and faults do not show.
type falling struct {
	node  redis.UniversalClient
	ttl   time.Duration
	wrong func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error)
	asked int
	token string // that is set
}

func (f *falling) set(ctx context.Context, key string) (bool, error) {
	return f.node.SetNX(ctx, key, cmp.Or(f.token, "x"), f.ttl).Result()
}

func (f *falling) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	taken, err := f.set(ctx, key)
	taken, err = f.wrong(f, ctx, key, taken, err)
	switch {
	case err != nil:
		return nil, err
	case !taken:
		return nil, lock.ErrNotAcquired
	}
	return fallingLease{f, key}, nil
}

type fallingLease struct {
	*falling
	key string
}

func (l fallingLease) Release(ctx context.Context) error { return l.node.Del(ctx, l.key).Err() }

// full reports whether so many refused clients have left their marks; else it leaves one.
func (f *falling) full(ctx context.Context, key string, marks ...string) bool {
	for _, mark := range marks {
		if fresh, err := f.node.SetNX(ctx, key+mark, "x", 0).Result(); fresh || err != nil {
			return false
		}
	}
	return true
}

// TestViewsOfFallingLocks: a harm that takes three or four clients, a third attempt or a second fault is never excluded for any
// number of them.
func TestViewsOfFallingLocks(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	type wrong = func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error)
	third := func(then wrong) wrong {
		return func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if taken || err != nil || !f.full(ctx, key, ":a") {
				return taken, err
			}
			return then(f, ctx, key, taken, err)
		}
	}
	for name, c := range map[string]struct {
		budget faults.Budget
		harm   verdict.Word
		once   bool // the proof is of one attempt a client, which excludes the harm
		wrong  wrong
	}{
		"the third enters": {"", verdict.Overlap, false, third(func(*falling, context.Context, string, bool, error) (bool, error) { return true, nil })},
		"the third deletes": {"", verdict.WrongDel, false, third(func(f *falling, ctx context.Context, key string, _ bool, _ error) (bool, error) {
			return false, f.node.Del(ctx, key).Err()
		})},
		"the fifth keeps": {"crash=1", verdict.Deadlock, false, func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if taken || err != nil || !f.full(ctx, key, ":a", ":b", ":c") {
				return taken, err
			}
			return false, f.node.Persist(ctx, key).Err()
		}},
		"the fourth enters": {"", verdict.StaleWrite, false, func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			return taken || err == nil && f.full(ctx, key, ":a", ":b"), err
		}},
		"the second fault enters": {"lose-request=1", verdict.Overlap, false, func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if err != nil {
				_, err = f.set(ctx, key+":again")
				return err != nil, nil
			}
			return taken, err
		}},
		"the third attempt enters": {"", verdict.Overlap, true, func(f *falling, _ context.Context, _ string, taken bool, err error) (bool, error) {
			f.asked++
			return taken || f.asked == 3, err
		}},
	} {
		entry := lock.Entry{ID: "falling", Nodes: 1, New: func(env lock.Env) lock.Strategy { return &falling{node: env.Nodes[0], ttl: env.TTL, wrong: c.wrong} }}
		b := study.DefaultBounds()
		b.Timing, b.Clients, b.Attempts, b.Retries, b.Budget, b.Nodes, b.MaxStates = study.AnyTiming, 2, 1, 0, c.budget, 1, 20_000
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == c.harm }) {
			t.Errorf("%s: two clients with one attempt come to %s", name, c.harm)
		}
		b.Attempts, b.Clients = 2, 2+explore.Outsiders
		m, err := b.Settled(entry).Model(entry)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := explore.ProveFor(t.Context(), m, true, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		if excluded := proof.Closed && !slices.Contains(proof.Harms, c.harm); excluded != c.once || c.once && proof.Once.IsZero() {
			t.Errorf("%s: %s is excluded: %t; once: %v; %v", name, c.harm, excluded, proof.Once, proof.Refused)
		}
	}
}

// TestViewsOfStrangers: code that compares other clients with each other, or passes on what it has read of one, is refused with
// the reason: views do not tell these apart. Code that asks only whether the key is its own is not.
func TestViewsOfStrangers(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	owner := func(f *falling, ctx context.Context, key string) (string, error) {
		who, err := f.node.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return who, err
	}
	for name, c := range map[string]struct {
		refused string // the key of the reason; "": it is not
		wrong   func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error)
	}{
		"asks whether it is its own": {"", func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if taken || err != nil {
				return taken, err
			}
			who, err := owner(f, ctx, key)
			return who == f.token, err
		}},
		"enters when the owner changes": {"prove.names", func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if taken || err != nil {
				return taken, err
			}
			first, err := owner(f, ctx, key)
			if err != nil {
				return false, err
			}
			second, err := owner(f, ctx, key)
			return first != "" && second != "" && first != second, err
		}},
		"deletes in the name of the owner": {"prove.names", func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if taken || err != nil {
				return taken, err
			}
			who, err := owner(f, ctx, key)
			if who != "" && err == nil {
				err = f.node.Eval(ctx, "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0", []string{key}, who).Err()
			}
			return false, err
		}},
		"fears one of them": {"prove.names", func(f *falling, ctx context.Context, key string, taken bool, err error) (bool, error) {
			if taken || err != nil {
				return taken, err
			}
			who, err := owner(f, ctx, key)
			return strings.HasPrefix(who, "c2."), err
		}},
	} {
		entry := lock.Entry{ID: "falling", Nodes: 1, New: func(env lock.Env) lock.Strategy {
			return &falling{node: env.Nodes[0], ttl: env.TTL, wrong: c.wrong, token: env.Tokens.Token()}
		}}
		b := study.DefaultBounds()
		b.Timing, b.Clients, b.Attempts, b.Retries, b.Budget, b.Nodes = study.AnyTiming, 2+explore.Outsiders, 2, 0, "crash=1", 1
		m, err := b.Settled(entry).Model(entry)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := explore.ProveFor(t.Context(), m, true, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		if c.refused == "" {
			if !proof.Closed {
				t.Errorf("%s: %v", name, proof.Refused)
			}
			continue
		}
		if why, ok := proof.Refused.(*explore.NotProvableError); !ok || proof.Closed || why.Why.Key != c.refused {
			t.Errorf("%s: %v, closed %t", name, proof.Refused, proof.Closed)
		}
	}
}
