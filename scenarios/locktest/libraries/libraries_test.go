package libraries

import (
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
)

const ttl = 9 * time.Second

func bounds() locktest.Bounds {
	return locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl}
}

func goRedis(c *locktest.Client, n int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: c.Addr(n), Dialer: c.Dial, MaxRetries: -1})
}

func work(r *locktest.Resource) { r.Write(r.Read() + 1) }

func TestRedislock(t *testing.T) {
	locktest.Check(t, bounds(), func(c *locktest.Client) {
		rdb := goRedis(c, 1)
		defer rdb.Close()
		l, err := redislock.Obtain(c.Context(), rdb, "k", ttl, nil)
		if err != nil {
			return
		}
		c.Critical(work)
		l.Release(c.Context())
	}, locktest.Holds("WRONG-DEL", "DEADLOCK"), locktest.Breaks("OVERLAP", 1))
}

func TestRedsync(t *testing.T) {
	locktest.Check(t, bounds(), func(c *locktest.Client) {
		rdb := goRedis(c, 1)
		defer rdb.Close()
		m := redsync.New(goredis.NewPool(rdb)).NewMutex("k", redsync.WithExpiry(ttl), redsync.WithTries(1))
		if m.LockContext(c.Context()) != nil {
			return
		}
		c.Critical(work)
		m.Unlock()
	}, locktest.Holds("WRONG-DEL", "DEADLOCK"), locktest.Breaks("OVERLAP", 1))
}
