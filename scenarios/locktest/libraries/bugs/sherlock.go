package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Sherlock is RedisLock of py-sherlock/sherlock.
//
//	Old    0.4.0
//	Fixed  0.4.1 of 18 February 2023, commit 78cd155
//	https://github.com/py-sherlock/sherlock/issues/66
//
// Renew executed the script that releases the lock, with success: from then on its caller worked without one. The
// repair executes the script that renews it.
//
// The port leaves out what Redis is not needed for: the name space, and the retries of a caller that waits.
type Sherlock struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
	owner   string
}

// NewSherlock returns a lock on key.
func NewSherlock(v Version, rdb *redis.Client, key string, ttl time.Duration) *Sherlock {
	return &Sherlock{rdb: rdb, key: key, ttl: ttl, version: v}
}

// sherlockAcquire is the library's script.
var sherlockAcquire = redis.NewScript(`local result = redis.call("setnx", KEYS[1], ARGV[1])
if result == 1 then redis.call("pexpire", KEYS[1], ARGV[2]) end
return result`)

// Acquire asks once.
func (l *Sherlock) Acquire(ctx context.Context) (bool, error) {
	l.owner = newToken()
	set, err := sherlockAcquire.Eval(ctx, l.rdb, []string{l.key}, l.owner, l.ttl.Milliseconds()).Int()
	return set == 1, err
}

// Renew starts the lease anew, and reports whether the caller has the lock.
func (l *Sherlock) Renew(ctx context.Context) (bool, error) {
	script := expireOwn
	if l.version == Old {
		script = deleteOwn
	}
	done, err := script.Eval(ctx, l.rdb, []string{l.key}, l.owner, l.ttl.Milliseconds()).Int()
	return done == 1, err
}

// Release gives the lock back.
func (l *Sherlock) Release(ctx context.Context) (bool, error) {
	return released(ctx, l.rdb, l.key, l.owner)
}
