package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redisson343 is tryLock and unlock of Redisson's RLock, with its watchdog.
//
//	Old    3.43.0
//	Fixed  3.44.0 of 27 January 2025, commit 597d604: "lock watchdog doesn't renew RLock if an expection has been thrown"
//	https://github.com/redisson/redisson/blob/master/CHANGELOG.md#27-jan-2025---3440-released
//	https://github.com/redisson/redisson/issues/5698
//
// One renewal that failed, because an answer came late, was the last: the lease ended while its holder worked on, and
// another one got the lock. The repair tries again at the end of the next period.
//
// The port leaves those who wait out, and has one watchdog a lock, where Redisson has one a client. A renewal waits a
// tenth of the lease for its answer, as Redisson's does where nothing else is configured: 3 s of 30.
type Redisson343 struct {
	rdb       *redis.Client
	key, name string
	ttl       time.Duration
	version   Version
	watchdog  watchdog
}

// NewRedisson343 returns a lock on key. Its lease is renewed every third of ttl until Release.
func NewRedisson343(v Version, rdb *redis.Client, key string, ttl time.Duration) *Redisson343 {
	return &Redisson343{rdb: rdb, key: key, name: newToken(), ttl: ttl, version: v}
}

// Acquire asks once.
func (l *Redisson343) Acquire(ctx context.Context) (bool, error) {
	got, err := acquired(lockScript.Eval(ctx, l.rdb, []string{l.key}, l.ttl.Milliseconds(), l.name))
	if got {
		l.watchdog.start(l.ttl/3, func() bool { return l.renew(ctx) })
	}
	return got, err
}

// renew prolongs the lock, and reports whether to do so again.
func (l *Redisson343) renew(ctx context.Context) bool {
	done, err := renewScript.Eval(ctx, l.rdb.WithTimeout(l.ttl/10), []string{l.key}, l.ttl.Milliseconds(), l.name).Int()
	if err != nil {
		return l.version == Fixed
	}
	return done == 1
}

// Release gives the lock back.
func (l *Redisson343) Release(ctx context.Context) (bool, error) {
	l.watchdog.stop()
	return unlock(ctx, l.rdb, l.key, l.name, l.ttl.Milliseconds())
}
