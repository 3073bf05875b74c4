package explore_test

import (
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
	name  string // of its code, which is not here: of what closures keep nothing is known
	asked int
	marks map[string]bool
}

// A code is that of a falling lock; acquire is (*asking).set and release deleteOwn if it is nil.
type code struct {
	acquire func(f *asking) (bool, error)
	release func(f *asking) error
}

var fallingCode sync.Map // by the names of locks

// fallingEntry is a lock of such code.
func fallingEntry(name string, c code) lock.Entry {
	fallingCode.Store(name, c)
	create := func(env lock.Env) lock.Lock { return &falling{env: env, name: name} }
	return lock.Entry{ID: "falling", Server: lock.OnRedis(1), New: create}
}

func (f *falling) code() code {
	c, _ := fallingCode.Load(f.name)
	return c.(code)
}

// An asking is one attempt to take the lock, and its lease.
type asking struct {
	*falling
	ctx        context.Context
	node       redis.UniversalClient
	token, key string
}

func (f *falling) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	a, acquire := &asking{f, ctx, f.env.Nodes[0], f.env.Tokens.Token(), key}, f.code().acquire
	if acquire == nil {
		acquire = (*asking).set
	}
	taken, err := acquire(a)
	switch {
	case err != nil:
		return nil, err
	case !taken:
		return nil, lock.ErrNotAcquired
	}
	return a, nil
}

func (f *asking) Release(ctx context.Context) error {
	f.ctx = ctx
	if release := f.code().release; release != nil {
		return release(f)
	}
	return givingBack(deleteOwn)(f)
}

func (f *asking) Reports() {}

// set takes the key if it is free.
func (f *asking) set() (bool, error) { return f.node.SetNX(f.ctx, f.key, f.token, f.env.TTL).Result() }

// eval runs a script with the key, the token, the lease in milliseconds and args.
func (f *asking) eval(script string, args ...any) (int64, error) {
	args = append([]any{f.token, f.env.TTL.Milliseconds()}, args...)
	return f.node.Eval(f.ctx, script, []string{f.key}, args...).Int64()
}

// full reports whether so many refused clients have left their marks; else it leaves one.
func (f *asking) full(marks ...string) bool {
	for _, mark := range marks {
		if fresh, err := f.node.SetNX(f.ctx, f.key+mark, "x", 0).Result(); fresh || err != nil {
			return false
		}
	}
	return true
}

// holds reports whether the key has that value.
func (f *asking) holds(value string) (bool, error) {
	who, err := f.owner()
	return who == value && err == nil, err
}

// owner is the value of the key; "": there is none.
func (f *asking) owner() (string, error) {
	who, err := f.node.Get(f.ctx, f.key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return who, err
}

// cached reports whether the server has a script.
func (f *asking) cached(script *redis.Script) (bool, error) {
	err := script.EvalSha(f.ctx, f.node, nil).Err()
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		return false, nil
	}
	return err == nil, err
}

// byScript takes the lock if the script returns 1.
func byScript(script string) func(f *asking) (bool, error) {
	return func(f *asking) (bool, error) {
		n, err := f.eval(script)
		return n == 1, err
	}
}

// refused does something when another has the key.
func refused(then func(f *asking) (bool, error)) func(f *asking) (bool, error) {
	return func(f *asking) (bool, error) {
		if taken, err := f.set(); taken || err != nil {
			return taken, err
		}
		return then(f)
	}
}

// givingBack is a release by a script that returns 0 if the lock was not the client's.
func givingBack(script string) func(f *asking) error {
	return func(f *asking) error {
		n, err := f.eval(script)
		if n == 0 && err == nil {
			return lock.ErrNotHeld
		}
		return err
	}
}

const deleteOwn = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// comesTo reports whether a search finds a harm, and whether it is complete.
func comesTo(t *testing.T, entry lock.Entry, b search.Bounds, harm verdict.Word) (found, complete bool) {
	t.Helper()
	s, err := search.Explore(t.Context(), entry, b)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == harm }), s.Complete
}

// TestViewsOfFallingLocks: a harm that takes three or more clients, another attempt or another fault is never excluded
// for any number of them, and the set of views is closed. Nor is it by a search of any number of attempts.
func TestViewsOfFallingLocks(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes a minute; one goroutine searches")
	for _, c := range fallingLocks {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			entry := fallingEntry(c.name, c.code)
			b := search.DefaultBounds()
			b.Timing, b.Retries, b.Nodes, b.Work = search.AnyTiming, 0, 1, 3*time.Second
			b.Clients, b.Attempts, b.Budget, b.MaxStates = 2, 1, c.few, 20_000
			if found, _ := comesTo(t, entry, b, c.harm); found {
				t.Errorf("two clients with one attempt come to %s", c.harm)
			}
			b.Clients, b.Attempts, b.Budget, b.MaxStates, b.Timing = c.clients, c.attempts, c.budget, 300_000, c.timing
			if found, _ := comesTo(t, entry, b, c.harm); !found {
				t.Errorf("%d clients with %d attempts do not come to %s", c.clients, c.attempts, c.harm)
			}
			if c.clients == 2 && c.attempts > 1 {
				b.Timing, b.Attempts, b.MaxStates = search.AnyTiming, search.AnyAttempts, 100_000
				if found, complete := comesTo(t, entry, b, c.harm); complete && !found {
					t.Errorf("a search of any number of attempts excludes %s", c.harm)
				}
			}
			b.Timing, b.Attempts, b.Clients, b.MaxStates = search.AnyTiming, 2, 2+explore.Outsiders, 200_000
			proved := false
			for _, endless := range []bool{false, true}[:len(c.budget.Faults())+1] {
				proved = neverExcluded(t, entry, b, endless, c.harm, c.attempts > 1) || proved
			}
			if !proved {
				t.Error("there is no proof that could exclude it")
			}
		})
	}
}

// mostChecked bounds the views of a set that is checked, which takes some milliseconds a view.
const mostChecked = 1500

// neverExcluded fails the test if a proof excludes the harm, unless it is of one attempt and the harm needs another, or
// if the views are not closed. It reports whether there is a proof.
func neverExcluded(
	t *testing.T, entry lock.Entry, b search.Bounds, endless bool, harm verdict.Word, again bool,
) bool {
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
