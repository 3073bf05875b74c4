package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// ShedLock is RedisLockProvider of lukas-krecan/ShedLock, on Spring Data Redis.
//
//	Old    0.18.2, on Spring Data Redis 1
//	Fixed  1.0.0 of 5 June 2018, on Spring Data Redis 2
//	https://github.com/lukas-krecan/ShedLock/issues/65
//	https://github.com/lukas-krecan/ShedLock/issues/105
//	https://github.com/lukas-krecan/ShedLock/pull/66
//
// Where the answer to SETNX was lost, or the PEXPIRE that follows it, the provider ended with an error and left a key
// without end: the task was never executed again, by no client. The repair sets both by one SET, so that such a key
// ends.
//
// Both versions leave the key behind, for good or for the time to live, and delete it whosever it is (issue 2583). The
// port leaves out that a lock may be kept for a least time.
type ShedLock struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
}

// NewShedLock returns a lock on key.
func NewShedLock(v Version, rdb *redis.Client, key string, ttl time.Duration) *ShedLock {
	return &ShedLock{rdb: rdb, key: key, ttl: ttl, version: v}
}

// Acquire asks once.
func (l *ShedLock) Acquire(ctx context.Context) (bool, error) {
	value := newToken() // the time and the host's name in the library, which nobody reads
	if l.version == Fixed {
		return l.rdb.SetNX(ctx, l.key, value, l.ttl).Result()
	}
	set, err := l.rdb.SetNX(ctx, l.key, value, 0).Result()
	if err == nil && set {
		err = l.rdb.PExpire(ctx, l.key, l.ttl).Err()
	}
	return set, err
}

// Release gives the lock back.
func (l *ShedLock) Release(ctx context.Context) (bool, error) {
	deleted, err := l.rdb.Del(ctx, l.key).Result()
	return deleted == 1, err
}
