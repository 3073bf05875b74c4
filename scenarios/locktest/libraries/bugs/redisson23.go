package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redisson23 is tryLock and unlock of Redisson's RLock, with its watchdog.
//
//	Old    2.3.0
//	Fixed  2.4.0 of 27 September 2016, commit e76d28a
//	https://github.com/redisson/redisson/commit/e76d28a768bd530591beaae863ee993e817ce2be
//	https://github.com/redisson/redisson/issues/597
//
// The watchdog prolonged the key, whosever it was: a holder that had been paused for longer than its lease prolonged
// the lock of the one who had got it meanwhile. The repair prolongs it only if the hash has the holder's name.
//
// The port leaves those who wait out, and has one watchdog a lock, where Redisson has one a client and key.
type Redisson23 struct {
	rdb       *redis.Client
	key, name string
	ttl       time.Duration
	version   Version
	watchdog  watchdog
}

// NewRedisson23 returns a lock on key. Its lease is renewed every third of ttl until Release.
func NewRedisson23(v Version, rdb *redis.Client, key string, ttl time.Duration) *Redisson23 {
	return &Redisson23{rdb: rdb, key: key, name: newToken(), ttl: ttl, version: v}
}

// Acquire asks once.
func (l *Redisson23) Acquire(ctx context.Context) (bool, error) {
	got, err := acquired(lockScript.Eval(ctx, l.rdb, []string{l.key}, l.ttl.Milliseconds(), l.name))
	if got {
		l.watchdog.start(l.ttl/3, func() bool { return l.renew(ctx) })
	}
	return got, err
}

// renew prolongs the lock, and reports whether to do so again.
func (l *Redisson23) renew(ctx context.Context) bool {
	if l.version == Old {
		done, err := l.rdb.PExpire(ctx, l.key, l.ttl).Result()
		return err == nil && done
	}
	done, err := renewScript.Eval(ctx, l.rdb, []string{l.key}, l.ttl.Milliseconds(), l.name).Int()
	return err == nil && done == 1
}

// Release gives the lock back.
func (l *Redisson23) Release(ctx context.Context) (bool, error) {
	l.watchdog.stop()
	return unlock(ctx, l.rdb, l.key, l.name, l.ttl.Milliseconds())
}
