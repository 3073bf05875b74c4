package libraries

import (
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
)

func TestMyLock(t *testing.T) {
	bounds := locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: 9 * time.Second}
	locktest.Check(t, bounds, func(c *locktest.Client) { // one process: your lock, as it is
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
		defer rdb.Close()
		m := redsync.New(goredis.NewPool(rdb)).NewMutex("k", redsync.WithExpiry(bounds.TTL), redsync.WithTries(1))
		if m.LockContext(c.Context()) != nil {
			return
		}
		c.Critical(func(r *locktest.Resource) { r.Write(r.Read() + 1) })
		m.Unlock()
	}, "OVERLAP STALE-WRITE")
}
