package explore_test

import (
	"context"
	"slices"
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestViewsOfCounters: a lock that draws fencing tokens is proved although its counter has no end. Code, or a script, that does something
// else when the counter has counted far, or that compares two numbers of it, is refused.
func TestViewsOfCounters(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	proof, _ := proofOf(t, lockOf(t, "redislock-fence"), viewBounds("crash=1"), true, 5_000)
	if !proof.Closed || len(proof.Harms) > 0 || proof.Assumed.Counters == 0 {
		t.Errorf("redislock-fence: closed %t, %v, counters %d; %v", proof.Closed, proof.Harms, proof.Assumed.Counters, proof.Refused)
	}

	count := func(f *asking, ctx context.Context, key string) (int64, error) {
		return f.node.Incr(ctx, key+":n").Result()
	}
	for name, c := range map[string]struct {
		refused string // the key of the reason; "": it is not
		code    func(f *asking, ctx context.Context, key string) (bool, error)
	}{
		"counts and does nothing with it": {"", func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if err == nil {
				_, err = count(f, ctx, key)
			}
			return taken, err
		}},
		"the hundredth enters": {"prove.counter", refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			n, err := count(f, ctx, key)
			return n >= 100, err
		})},
		"a script deletes the key at the hundredth": {"prove.counter", refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			return false, f.node.Eval(ctx, "if redis.call('INCR', KEYS[2]) >= 100 then redis.call('DEL', KEYS[1]) end return 0", []string{key, key + ":n"}).Err()
		})},
		"enters when another one has counted meanwhile": {"prove.counter", refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			first, err := count(f, ctx, key)
			if err != nil {
				return false, err
			}
			second, err := count(f, ctx, key)
			return second > first+1, err
		})},
		"passes the number on": {"prove.counter", refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			n, err := count(f, ctx, key)
			if err == nil {
				err = f.node.Set(ctx, key+":last", n, 0).Err()
			}
			return false, err
		})},
		"counts down again": {"prove.counter", func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if err != nil {
				return false, err
			}
			if n, err := count(f, ctx, key); err != nil || n > 5 {
				return false, err
			}
			return taken, f.node.Decr(ctx, key+":n").Err()
		}},
	} {
		entry := fallingEntry(name, code{acquire: c.code})
		if proof, refused := proofOf(t, entry, viewBounds("crash=1"), true, 20_000); refused != c.refused {
			t.Errorf("%s: %v, %v", name, proof.Harms, proof.Refused)
		}
	}
	for _, id := range []string{"constant", "setnx"} { // their value is no counter
		proof, _ := proofOf(t, lockOf(t, id), viewBounds("crash=1"), true, 5_000)
		if !proof.Closed || proof.Assumed.Counters != 0 || slices.Contains(proof.Harms, explore.Provable[0]) {
			t.Errorf("%s: closed %t, %+v", id, proof.Closed, proof.Assumed)
		}
	}
}
