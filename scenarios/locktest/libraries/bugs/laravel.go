package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Laravel is RedisLock of laravel/framework.
//
//	Old    5.7.9
//	Fixed  5.8.0, pull request 26645
//	https://github.com/laravel/framework/issues/26213
//	https://github.com/laravel/framework/pull/26645
//
// Release deleted the key, whosever it was: a holder that had worked for longer than its lease deleted the lock of the
// one who had got it meanwhile, and a third one came in. The repair writes the owner into the key, and compares.
//
// Both versions set the time to live by a command of its own.
type Laravel struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
	owner   string
}

// NewLaravel returns a lock on key.
func NewLaravel(v Version, rdb *redis.Client, key string, ttl time.Duration) *Laravel {
	owner := "1"
	if v == Fixed {
		owner = newToken()
	}
	return &Laravel{rdb: rdb, key: key, ttl: ttl, version: v, owner: owner}
}

// Acquire asks once.
func (l *Laravel) Acquire(ctx context.Context) (bool, error) {
	set, err := l.rdb.SetNX(ctx, l.key, l.owner, 0).Result()
	if err == nil && set {
		err = l.rdb.PExpire(ctx, l.key, l.ttl).Err()
	}
	return set, err
}

// Release gives the lock back.
func (l *Laravel) Release(ctx context.Context) (bool, error) {
	if l.version == Fixed {
		return released(ctx, l.rdb, l.key, l.owner)
	}
	deleted, err := l.rdb.Del(ctx, l.key).Result()
	return deleted == 1, err
}
