package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestViewsOfCounters: a lock that draws fencing tokens is proved although its counter has no end. Code, or a script, that does something
// else when the counter has counted far, or that compares two numbers of it, is refused.
func TestViewsOfCounters(t *testing.T) {
	effort.OnlyPushed(t, "it closes views for seconds")
	effort.Unwatched(t, "one goroutine searches")
	proof, _ := proofOf(t, lockOf(t, "redislock-fence"), viewBounds("crash=1"), true, 5_000)
	if !proof.Closed || len(proof.Harms) > 0 || proof.Covered.Assumed.Counters == 0 {
		t.Errorf("redislock-fence: closed %t, %v, counters %d; %v", proof.Closed, proof.Harms, proof.Covered.Assumed.Counters, proof.Refused)
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
		if !proof.Closed || proof.Covered.Assumed.Counters != 0 || slices.Contains(proof.Harms, explore.Provable[0]) {
			t.Errorf("%s: closed %t, %+v", id, proof.Closed, proof.Covered.Assumed)
		}
	}
}

// A bare lease deletes the key, whose ever it is.
type bare struct {
	node redis.UniversalClient
	key  string
}

func (l bare) Release(ctx context.Context) error { return l.node.Del(ctx, l.key).Err() }

// A patient lock writes down when it was taken, and enters beside a holder that has it for too long.
type patient struct {
	env    lock.Env
	leases time.Duration
}

func (p *patient) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	now := p.env.Clock.Now()
	taken, err := p.env.Nodes[0].SetNX(ctx, key, now.UnixMilli(), 0).Result()
	if err != nil || taken {
		return bare{p.env.Nodes[0], key}, err
	}
	since, err := p.env.Nodes[0].Get(ctx, key).Int64()
	if err != nil || now.Sub(time.UnixMilli(since)) <= p.leases*p.env.TTL {
		return nil, lock.ErrNotAcquired
	}
	return bare{p.env.Nodes[0], key}, nil
}

// A register lock writes down two times. It enters beside a holder whose times are older than half a lease and differ, as they always do.
type register struct{ env lock.Env }

func (r *register) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	now, node := r.env.Clock.Now(), r.env.Nodes[0]
	lease := bare{node, key}
	taken, err := node.SetNX(ctx, key, fmt.Sprint(now.UnixMilli(), " ", now.Add(time.Second).UnixMilli()), 0).Result()
	if err != nil || taken {
		return lease, err
	}
	held, err := node.Get(ctx, key).Result()
	if err != nil {
		return nil, lock.ErrNotAcquired
	}
	var first, second int64
	if _, err = fmt.Sscan(held, &first, &second); err != nil || first == second || now.Sub(time.UnixMilli(second)) <= r.env.TTL/2 {
		return nil, lock.ErrNotAcquired
	}
	return lease, nil
}

// TestViewsOfStamps: a time stamp in a key grows older without end, and views close all the same. Of code that compares its age with more than
// four leases there is no proof, and two old stamps are never taken for one.
func TestViewsOfStamps(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	proof, _ := proofOf(t, lockOf(t, "cron-v2"), viewBounds("crash=1"), true, 5_000)
	if !proof.Closed || proof.Covered.Assumed.Ages.Ancient == 0 || !slices.Equal(proof.Harms, []verdict.Word{verdict.Deadlock}) {
		t.Errorf("cron-v2: closed %t, %+v, two clients come to %v; %v", proof.Closed, proof.Covered.Assumed.Ages, proof.Harms, proof.Refused)
	}

	proof, refused := proofOf(t, lock.Entry{ID: "patient", Server: lock.OnRedis(1), New: func(env lock.Env) lock.Lock { return &patient{env, 30} }}, viewBounds("crash=1"), true, 20_000)
	if refused != "prove.clock" {
		t.Errorf("a lock that compares with 30 leases: closed %t, %+v, %v", proof.Closed, proof.Covered.Assumed.Ages, proof.Refused)
	}
	proof, _ = proofOf(t, lock.Entry{ID: "register", Server: lock.OnRedis(1), New: func(env lock.Env) lock.Lock { return &register{env} }}, viewBounds("crash=1"), true, 5_000)
	if !slices.Contains(proof.Harms, verdict.Overlap) {
		t.Errorf("a lock that compares two old stamps: closed %t, %+v, two clients come to %v; %v", proof.Closed, proof.Covered.Assumed.Ages, proof.Harms, proof.Refused)
	}
}
