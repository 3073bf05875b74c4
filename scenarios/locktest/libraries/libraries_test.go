// Package libraries searches the locks of libraries that people use, as they are. It is a
// module of its own, so that none of them becomes a dependency of the lab.
package libraries

import (
	"context"
	"testing"
	"time"

	"github.com/bsm/redislock"
	gocronlock "github.com/go-co-op/gocron-redis-lock/v2"
	"github.com/go-redsync/redsync/v4"
	rsredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
)

const ttl = 9 * time.Second

func work(r *locktest.Resource) { r.Write(r.Read() + 1) }

func goRedis(c *locktest.Client, n int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: c.Addr(n), Dialer: c.Dial, MaxRetries: -1})
}

// redsyncOn is redsync on one server, or on a quorum of several.
func redsyncOn(servers int, options ...redsync.Option) func(c *locktest.Client) {
	return func(c *locktest.Client) {
		var pools []rsredis.Pool
		for n := range servers {
			rdb := goRedis(c, n+1)
			defer rdb.Close()
			pools = append(pools, goredis.NewPool(rdb))
		}
		lockWith(c, redsync.New(pools...), options...)
	}
}

func redsyncOnRedigo(c *locktest.Client) {
	pool := &redigo.Pool{MaxIdle: 1, DialContext: func(ctx context.Context) (redigo.Conn,
		error) {
		return dialRedigo(ctx, c)
	}}
	defer pool.Close()
	lockWith(c, redsync.New(redigopool.NewPool(pool)), redsync.WithTries(1))
}

func lockWith(c *locktest.Client, rs *redsync.Redsync, options ...redsync.Option) {
	m := rs.NewMutex("k", append(options, redsync.WithExpiry(ttl))...)
	if m.LockContext(c.Context()) != nil {
		return
	}
	c.Critical(work)
	m.Unlock()
}

// redislockOn obtains the lock once, or again and again as retry says.
func redislockOn(retry redislock.RetryStrategy) func(c *locktest.Client) {
	return func(c *locktest.Client) {
		rdb := goRedis(c, 1)
		defer rdb.Close()
		l, err := redislock.Obtain(c.Context(), rdb, "k", ttl, &redislock.Options{RetryStrategy: retry})
		if err != nil {
			return
		}
		c.Critical(work)
		l.Release(c.Context())
	}
}

// redislockRetrying makes a strategy for each client: it counts.
func redislockRetrying(c *locktest.Client) {
	redislockOn(redislock.LimitRetry(redislock.LinearBackoff(ttl*2/5), 3))(c)
}

// setNXOnGoRedis sends a command that had no answer so many times more; -1: never; 0: as often as go-redis does by
// default.
func setNXOnGoRedis(retries int) func(c *locktest.Client) {
	return func(c *locktest.Client) {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: retries})
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
		rdb.Del(c.Context(), "k")
	}
}

func dialRedigo(ctx context.Context, c *locktest.Client) (redigo.Conn, error) {
	return redigo.DialContext(ctx, "tcp", c.Addr(1), redigo.DialContextFunc(c.Dial),
		redigo.DialReadTimeout(3*time.Second))
}

func setNXOnRedigo(c *locktest.Client) {
	conn, err := dialRedigo(c.Context(), c)
	if err != nil {
		return
	}
	defer conn.Close()
	if _, err := redigo.String(conn.Do("SET", "k", 1, "NX", "PX", ttl.Milliseconds())); err != nil {
		return
	}
	c.Critical(work)
	conn.Do("DEL", "k")
}

// gocronLocker takes the lock with which one of several schedulers of gocron runs a job: a
// mutex of redsync, behind a PING.
func gocronLocker(c *locktest.Client) {
	rdb := goRedis(c, 1)
	defer rdb.Close()
	locker, err := gocronlock.NewRedisLocker(rdb, gocronlock.WithExpiry(ttl), gocronlock.WithTries(1))
	if err != nil {
		return
	}
	l, err := locker.Lock(c.Context(), "k")
	if err != nil {
		return
	}
	c.Critical(work)
	_ = l.Unlock(c.Context())
}

// TestLibraries is the table of the README: what each lock holds against, and what breaks
// it with how many faults. Every search is complete.
func TestLibraries(t *testing.T) {
	for _, test := range []struct {
		name   string
		code   func(c *locktest.Client)
		budget string
		breaks string // with one fault; it holds against all else
	}{
		{"redsync", redsyncOn(1, redsync.WithTries(1)), "crash=1,pause=1", "OVERLAP STALE-WRITE"},
		// the answer is NOSCRIPT, and the release is not sent again
		{"redsync", redsyncOn(1, redsync.WithTries(1)), "lose-reply=1", "ORPHAN"},
		{"redsync retrying", redsyncOn(1, redsync.WithTries(2), redsync.WithRetryDelay(ttl*2/5)), "pause=1",
			"OVERLAP STALE-WRITE"},
		{"redsync on redigo", redsyncOnRedigo, "crash=1,pause=1", "OVERLAP STALE-WRITE"},
		{"gocron", gocronLocker, "crash=1,pause=1", "OVERLAP STALE-WRITE"},
		{"gocron", gocronLocker, "lose-reply=1", "ORPHAN"},
		{"redislock", redislockOn(nil), "crash=1,pause=1", "OVERLAP STALE-WRITE"},
		{"redislock", redislockOn(nil), "lose-reply=1", "ORPHAN"},
		{"redislock retrying", redislockRetrying, "pause=1", "OVERLAP STALE-WRITE ORPHAN"},
		{"SET NX on go-redis", setNXOnGoRedis(-1), "crash=1,pause=1", "OVERLAP STALE-WRITE WRONG-DEL ORPHAN"},
		{"SET NX on redigo", setNXOnRedigo, "crash=1,pause=1", "OVERLAP STALE-WRITE WRONG-DEL ORPHAN"},
	} {
		t.Run(test.name+" "+test.budget, func(t *testing.T) {
			locktest.Check(t, locktest.Bounds{Clients: 2, Budget: test.budget, TTL: ttl, Beside: 20_000}, test.code,
				test.breaks)
		})
	}
}

// TestRetriesOfGoRedis: a SET NX that is sent again refuses its own sender, in lockstep; at other timings a DEL that
// is sent again deletes the next holder's key.
func TestRetriesOfGoRedis(t *testing.T) {
	b := locktest.Bounds{Clients: 2, Budget: "lose-reply=1", TTL: ttl}
	locktest.Check(t, b, setNXOnGoRedis(0), "OVERLAP STALE-WRITE WRONG-DEL ORPHAN")
}

// TestRedsyncAtAnyTiming: redsync reads the clock, and is searched to the end all the same.
func TestRedsyncAtAnyTiming(t *testing.T) {
	b := locktest.Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl, AnyTiming: true}
	locktest.Check(t, b, redsyncOn(1, redsync.WithTries(1)), "")
}

// TestRacesOfLibraries plays the lab's races with the libraries that people use most.
func TestRacesOfLibraries(t *testing.T) {
	for name, code := range map[string]func(c *locktest.Client){"redsync": redsyncOn(1, redsync.WithTries(1)),
		"redislock": redislockOn(nil)} {
		t.Run(name, func(t *testing.T) { locktest.Races(t, code, "OVERLAP STALE-WRITE FENCED ORPHAN BLOCKED") })
	}
}

// TestRedsyncThreeServers: three servers are asked at once, and answer in any order. With a pause, during which the
// clocks go on that it reads, that is too much for a search, and sampled.
func TestRedsyncThreeServers(t *testing.T) {
	code := redsyncOn(3, redsync.WithTries(1))
	t.Run("crash=1", func(t *testing.T) {
		b := locktest.Bounds{Clients: 2, Attempts: 1, Servers: 3, TTL: ttl, Budget: "crash=1"}
		locktest.Check(t, b, code, "")
	})
	t.Run("pause=1", func(t *testing.T) {
		b := locktest.Bounds{Clients: 2, Servers: 3, TTL: ttl, Budget: "pause=1"}
		locktest.Sample(t, b, code, "OVERLAP STALE-WRITE")
	})
}
