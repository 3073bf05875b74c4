package mylock

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
)

const ttl = 9 * time.Second

var release = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then ` +
	`return redis.call("del", KEYS[1]) else return 0 end`)

// TestMyLock searches everything that two processes with this lock can come to.
func TestMyLock(t *testing.T) {
	locktest.Check(t, locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl},
		func(c *locktest.Client) { // one process: your lock, as it is
			rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
			defer rdb.Close()
			token := c.Token()
			if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
				return
			}
			c.Critical(func(r *locktest.Resource) { r.Write(r.Read() + 1) })
			release.Run(c.Context(), rdb, []string{"k"}, token)
		},
		"OVERLAP STALE-WRITE ORPHAN") // a lease: one pause lets a second process in, or leaves the key behind
}
