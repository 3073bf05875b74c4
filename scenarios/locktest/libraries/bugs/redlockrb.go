package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedlockRb is the lock of leandromoreira/redlock-rb.
//
//	Old    0.0.3
//	Fixed  0.0.4 of 25 March 2015, commit 5d8f325
//	https://github.com/leandromoreira/redlock-rb/pull/5
//	https://github.com/antirez/redlock-rb/issues/3
//
// A client that did not get its majority gave back the lock on those servers only that had said OK. A server that had
// executed the SET and whose answer was lost kept the key: the caller was told that it has no lock, and everybody was
// refused until the time to live was over. The repair gives the lock back on all servers.
//
// The port has one server and asks once. An answer that does not come is a refusal, as in the library since 1.0.1
// (https://github.com/leandromoreira/redlock-rb/pull/75), and returned as an error besides.
type RedlockRb struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
	value   string
}

// NewRedlockRb returns a lock on key.
func NewRedlockRb(v Version, rdb *redis.Client, key string, ttl time.Duration) *RedlockRb {
	return &RedlockRb{rdb: rdb, key: key, ttl: ttl, version: v}
}

// Acquire asks once.
func (l *RedlockRb) Acquire(ctx context.Context) (bool, error) {
	l.value = newToken()
	locked, err := l.rdb.SetNX(ctx, l.key, l.value, l.ttl).Result()
	if locked {
		return true, nil
	}
	if l.version == Fixed {
		l.Release(ctx) // the best effort
	}
	return false, err
}

// Release gives the lock back.
func (l *RedlockRb) Release(ctx context.Context) (bool, error) {
	return released(ctx, l.rdb, l.key, l.value)
}
