package libraries

import (
	"testing"

	redislock "github.com/go-co-op/gocron-redis-lock/v2"

	"locklab/scenarios/locktest"
)

// gocronLocker takes the lock with which one of several schedulers of gocron runs a job: a
// mutex of redsync, behind a PING.
func gocronLocker(c *locktest.Client) {
	rdb := goRedis(c, 1)
	defer rdb.Close()
	locker, err := redislock.NewRedisLocker(rdb, redislock.WithExpiry(ttl), redislock.WithTries(1))
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

// TestGocron: the lock of gocron's jobs does as redsync does.
func TestGocron(t *testing.T) {
	for _, test := range []struct{ budget, breaks string }{
		{"crash=1,pause=1", "OVERLAP STALE-WRITE"},
		{"lose-reply=1", ""},
	} {
		t.Run(test.budget, func(t *testing.T) {
			b := locktest.Bounds{Clients: 2, Budget: test.budget, TTL: ttl, Beside: 20_000}
			locktest.Check(t, b, gocronLocker, locktest.Finds(test.breaks))
		})
	}
}
