package libraries

import (
	"context"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
)

// TestRedislockPrefix: of two custom tokens of which one is a prefix of the other, both get the lock.
func TestRedislockPrefix(t *testing.T) {
	b := locktest.Bounds{Clients: 2, TTL: ttl, Key: "k"}
	locktest.Check(t, b, func(c *locktest.Client) {
		rdb := goRedis(c, 1)
		defer rdb.Close()
		token := [...]string{"worker-1", "worker-12"}[c.ID()-1]
		l, err := redislock.Obtain(c.Context(), rdb, "k", ttl, &redislock.Options{Token: token})
		if err != nil {
			return
		}
		c.Critical(work)
		l.Release(c.Context())
	}, "OVERLAP@0 STALE-WRITE@0 WRONG-DEL@0")
}

// TestRedsyncDeadline: where the deadline of LockContext comes before an answer, what was locked stays.
func TestRedsyncDeadline(t *testing.T) {
	b := locktest.Bounds{Clients: 2, TTL: ttl, Budget: "delay=1@2s"}
	locktest.Check(t, b, func(c *locktest.Client) {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1,
			ContextTimeoutEnabled: true})
		defer rdb.Close()
		m := redsync.New(goredis.NewPool(rdb)).NewMutex("k", redsync.WithExpiry(ttl), redsync.WithTries(1))
		ctx, cancel := context.WithTimeout(c.Context(), time.Second)
		defer cancel()
		if m.LockContext(ctx) != nil {
			return
		}
		c.Critical(work)
		m.Unlock()
	}, "ORPHAN")
}
