package libraries

import (
	"context"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	rsredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	redigo "github.com/gomodule/redigo/redis"
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

func TestRedsyncRedigo(t *testing.T) {
	locktest.Check(t, bounds(), func(c *locktest.Client) {
		pool := &redigo.Pool{MaxIdle: 1, DialContext: func(ctx context.Context) (redigo.Conn, error) {
			return redigo.DialContext(ctx, "tcp", c.Addr(1), redigo.DialContextFunc(c.Dial), redigo.DialReadTimeout(3*time.Second))
		}}
		defer pool.Close()
		m := redsync.New(redigopool.NewPool(pool)).NewMutex("k", redsync.WithExpiry(ttl), redsync.WithTries(1))
		if m.LockContext(c.Context()) != nil {
			return
		}
		c.Critical(work)
		m.Unlock()
	}, locktest.Holds("WRONG-DEL", "DEADLOCK"), locktest.Breaks("OVERLAP", 1))
}

// redsyncOn is redsync's quorum of several servers.
func redsyncOn(servers int) func(c *locktest.Client) {
	return func(c *locktest.Client) {
		var pools []rsredis.Pool
		for n := range servers {
			rdb := goRedis(c, n+1)
			defer rdb.Close()
			pools = append(pools, goredis.NewPool(rdb))
		}
		m := redsync.New(pools...).NewMutex("k", redsync.WithExpiry(ttl), redsync.WithTries(1))
		if m.LockContext(c.Context()) != nil {
			return
		}
		c.Critical(work)
		m.Unlock()
	}
}

// Three servers are asked at once: the orders of their answers are too many for a
// search, so this is sampled.
func TestRedsyncThreeServers(t *testing.T) {
	b := locktest.Bounds{Clients: 2, Servers: 3, TTL: ttl, Budget: "pause=1"}
	locktest.Sample(t, b, redsyncOn(3), locktest.Holds("WRONG-DEL", "DEADLOCK"), locktest.Breaks("OVERLAP", 1))
}

func TestSetNX(t *testing.T) {
	t.Run("go-redis", func(t *testing.T) {
		locktest.Check(t, bounds(), func(c *locktest.Client) {
			rdb := goRedis(c, 1)
			defer rdb.Close()
			if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err != nil || !ok {
				return
			}
			c.Critical(work)
			rdb.Del(c.Context(), "k")
		}, locktest.Holds("DEADLOCK"), locktest.Breaks("OVERLAP", 1), locktest.Breaks("WRONG-DEL", 1))
	})
	t.Run("redigo", func(t *testing.T) {
		locktest.Check(t, bounds(), func(c *locktest.Client) {
			conn, err := redigo.DialContext(c.Context(), "tcp", c.Addr(1), redigo.DialContextFunc(c.Dial), redigo.DialReadTimeout(3*time.Second))
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := redigo.String(conn.Do("SET", "k", 1, "NX", "PX", ttl.Milliseconds())); err != nil {
				return
			}
			c.Critical(work)
			conn.Do("DEL", "k")
		}, locktest.Holds("DEADLOCK"), locktest.Breaks("OVERLAP", 1), locktest.Breaks("WRONG-DEL", 1))
	})
}
