package explore_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// A falling lock does something wrong that few clients, attempts and faults do not show.
type falling struct {
	env   lock.Env
	name  string // of its code, which is not here: of what closures keep nothing is known, and the proof would be of one attempt
	asked int
	marks map[string]bool
}

// A code is that of a falling lock; release is deleteOwn if it is nil.
type code struct {
	acquire func(f *asking, ctx context.Context, key string) (bool, error)
	release func(f *asking, ctx context.Context, key string) error
}

var fallingCode sync.Map // by the names of locks

// fallingEntry is a lock of such code.
func fallingEntry(name string, c code) lock.Entry {
	fallingCode.Store(name, c)
	return lock.Entry{ID: "falling", Server: lock.OnRedis(1), New: func(env lock.Env) lock.Lock { return &falling{env: env, name: name} }}
}

func (f *falling) code() code {
	c, _ := fallingCode.Load(f.name)
	return c.(code)
}

// An asking is one attempt to take the lock, and its lease.
type asking struct {
	*falling
	node       redis.UniversalClient
	token, key string
}

func (f *falling) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	a := &asking{f, f.env.Nodes[0], f.env.Tokens.Token(), key}
	taken, err := f.code().acquire(a, ctx, key)
	switch {
	case err != nil:
		return nil, err
	case !taken:
		return nil, lock.ErrNotAcquired
	}
	return a, nil
}

func (f *asking) Release(ctx context.Context) error {
	if release := f.code().release; release != nil {
		return release(f, ctx, f.key)
	}
	return deleteOwn(f, ctx, f.key)
}

func (f *asking) Reports() {}

// set takes the key if it is free.
func (f *asking) set(ctx context.Context, key string) (bool, error) {
	return f.node.SetNX(ctx, key, f.token, f.env.TTL).Result()
}

// eval runs a script with the key, the token, the lease in milliseconds and args.
func (f *asking) eval(ctx context.Context, script, key string, args ...any) (int64, error) {
	return f.node.Eval(ctx, script, []string{key}, append([]any{f.token, f.env.TTL.Milliseconds()}, args...)...).Int64()
}

// full reports whether so many refused clients have left their marks; else it leaves one.
func (f *asking) full(ctx context.Context, key string, marks ...string) bool {
	for _, mark := range marks {
		if fresh, err := f.node.SetNX(ctx, key+mark, "x", 0).Result(); fresh || err != nil {
			return false
		}
	}
	return true
}

// byScript takes the lock if the script returns 1.
func byScript(script string) func(f *asking, ctx context.Context, key string) (bool, error) {
	return func(f *asking, ctx context.Context, key string) (bool, error) {
		n, err := f.eval(ctx, script, key)
		return n == 1, err
	}
}

// refused does something when another has the key.
func refused(then func(f *asking, ctx context.Context, key string) (bool, error)) func(f *asking, ctx context.Context, key string) (bool, error) {
	return func(f *asking, ctx context.Context, key string) (bool, error) {
		if taken, err := f.set(ctx, key); taken || err != nil {
			return taken, err
		}
		return then(f, ctx, key)
	}
}

// givingBack is a release by a script that returns 0 if the lock was not the client's.
func givingBack(script string) func(f *asking, ctx context.Context, key string) error {
	return func(f *asking, ctx context.Context, key string) error {
		n, err := f.eval(ctx, script, key)
		if n == 0 && err == nil {
			return lock.ErrNotHeld
		}
		return err
	}
}

const own = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

var deleteOwn = givingBack(own)

// TestViewsOfFallingLocks: a harm that takes three or more clients, another attempt or another fault is never excluded for any number of
// them, and the set of views is closed.
func TestViewsOfFallingLocks(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	closed := 0
	for _, c := range fallingLocks {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			entry := fallingEntry(c.name, c.code)
			b := search.DefaultBounds()
			b.Timing, b.Retries, b.Nodes, b.Work = search.AnyTiming, 0, 1, cmp.Or(c.work, 3*time.Second)
			b.Clients, b.Attempts, b.Budget, b.MaxStates = 2, 1, c.few, 20_000
			if comesTo(t, entry, b, c.harm) {
				t.Errorf("two clients with one attempt come to %s", c.harm)
			}
			b.Clients, b.Attempts, b.Budget, b.MaxStates, b.Timing = c.clients, c.attempts, c.budget, 200_000, c.timing
			if !comesTo(t, entry, b, c.harm) {
				t.Errorf("%d clients with %d attempts do not come to %s", c.clients, c.attempts, c.harm)
			}
			b.Timing, b.Attempts, b.Clients = search.AnyTiming, 2, 2+explore.Outsiders
			for _, endless := range []bool{false, true}[:len(c.budget.Faults())+1] {
				if neverExcluded(t, entry, b, endless, c.harm, c.attempts > 1) {
					closed++
				}
			}
		})
	}
	if closed < 35 {
		t.Errorf("only %d proofs", closed)
	}
}

// comesTo reports whether a search finds a harm.
func comesTo(t *testing.T, entry lock.Entry, b search.Bounds, harm verdict.Word) bool {
	t.Helper()
	s, err := search.Explore(t.Context(), entry, b)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == harm })
}

// mostChecked bounds the views of a set that is checked, which takes some milliseconds a view.
const mostChecked = 1500

// neverExcluded fails the test if a proof excludes the harm, unless it is of one attempt and the harm needs another, or
// if the views are not closed. It reports whether there is a proof.
func neverExcluded(t *testing.T, entry lock.Entry, b search.Bounds, endless bool, harm verdict.Word, again bool) bool {
	t.Helper()
	proof, _ := proofOf(t, entry, b, endless, 10_000)
	excluded := proof.Closed && !slices.Contains(proof.Harms, harm)
	if excluded && (!again || proof.Once.IsZero()) {
		t.Errorf("%s is excluded; endless %t, once: %v", harm, endless, proof.Once)
	}
	t.Logf("endless %t, closed %t, %d views, %v, once: %v, refused: %.100v",
		endless, proof.Closed, proof.Views, proof.Harms, proof.Once.Key, proof.Refused)
	if proof.Closed && proof.Views <= mostChecked {
		wrong, _, err := explore.Closed(t.Context(), modelOf(t, entry, b), endless, mostChecked, 0)
		if err != nil || wrong != "" {
			t.Errorf("%q, %v", wrong, err)
		}
	}
	return proof.Closed
}

// TestViewsOfPeers: code that compares other clients with each other, or passes on what it has read of one, is refused with
// the reason: views do not tell these apart. Code that asks only whether the key is its own is not.
func TestViewsOfPeers(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	owner := func(f *asking, ctx context.Context, key string) (string, error) {
		who, err := f.node.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return who, err
	}
	for name, c := range map[string]struct {
		refused string // the key of the reason; "": it is not
		wrong   func(f *asking, ctx context.Context, key string) (bool, error)
	}{
		"asks whether it is its own": {"", func(f *asking, ctx context.Context, key string) (bool, error) {
			who, err := owner(f, ctx, key)
			return who == f.token, err
		}},
		"enters when the owner changes": {"prove.names", func(f *asking, ctx context.Context, key string) (bool, error) {
			first, err := owner(f, ctx, key)
			if err != nil {
				return false, err
			}
			second, err := owner(f, ctx, key)
			return first != "" && second != "" && first != second, err
		}},
		"deletes in the name of the owner": {"prove.names", func(f *asking, ctx context.Context, key string) (bool, error) {
			who, err := owner(f, ctx, key)
			if who != "" && err == nil {
				err = f.node.Eval(ctx, own, []string{key}, who).Err()
			}
			return false, err
		}},
		"fears one of them": {"prove.names", func(f *asking, ctx context.Context, key string) (bool, error) {
			who, err := owner(f, ctx, key)
			return strings.HasPrefix(who, "c2."), err
		}},
	} {
		entry := fallingEntry(name, code{acquire: refused(c.wrong)})
		if proof, why := proofOf(t, entry, viewBounds("crash=1"), true, 20_000); why != c.refused {
			t.Errorf("%s: %v", name, proof.Refused)
		}
	}
}
