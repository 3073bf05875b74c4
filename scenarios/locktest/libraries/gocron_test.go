package libraries

import (
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
