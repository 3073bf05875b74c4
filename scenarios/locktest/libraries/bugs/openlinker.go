package bugs

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// OpenLinker is RedisSyncLockService of openlinker-project/openlinker, on ioredis.
//
//	Old    before 31 August 2026
//	Fixed  since pull request 2717
//	https://github.com/openlinker-project/openlinker/pull/2717
//
// Ioredis sends commands again whose answers were lost with the connection. A SET NX that had been executed was then
// refused by its own key: acquire reported that another one holds the lock, and nobody held it until the time to live
// was over. The repair reads the key after a refusal, and takes its own value for success.
//
// The port sends a command once more, where ioredis does it up to twenty times.
type OpenLinker struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
	token   string
}

// NewOpenLinker returns a lock on key.
func NewOpenLinker(v Version, rdb *redis.Client, key string, ttl time.Duration) *OpenLinker {
	return &OpenLinker{rdb: rdb, key: key, ttl: ttl, version: v}
}

// Acquire asks once.
func (l *OpenLinker) Acquire(ctx context.Context) (bool, error) {
	l.token = newToken()
	set, err := resend(func() (bool, error) { return l.rdb.SetNX(ctx, l.key, l.token, l.ttl).Result() })
	if set || err != nil || l.version == Old {
		return set, err
	}
	holder, err := resend(func() (string, error) { return l.rdb.Get(ctx, l.key).Result() })
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil && holder == l.token, err
}

// Release gives the lock back.
func (l *OpenLinker) Release(ctx context.Context) (bool, error) {
	return resend(func() (bool, error) { return released(ctx, l.rdb, l.key, l.token) })
}
