package bugs

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Leshan is RedisLock of eclipse-leshan/leshan.
//
//	Old    1.0.0
//	Fixed  1.0.1, commit 76cac08 of 22 April 2020
//	https://github.com/eclipse-leshan/leshan/pull/837
//
// Release read the key, compared, and deleted it by another command. A lease that ended between the two gave the key
// to somebody else, and it was that one's key that went. The repair watches the key and deletes it in a transaction.
//
// The port asks once, where the library asks every 5 ms.
type Leshan struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
	value   string
}

// NewLeshan returns a lock on key.
func NewLeshan(v Version, rdb *redis.Client, key string, ttl time.Duration) *Leshan {
	return &Leshan{rdb: rdb, key: key, ttl: ttl, version: v}
}

// Acquire asks once.
func (l *Leshan) Acquire(ctx context.Context) (bool, error) {
	l.value = newToken()
	return l.rdb.SetNX(ctx, l.key, l.value, l.ttl).Result()
}

// Release gives the lock back.
func (l *Leshan) Release(ctx context.Context) (held bool, err error) {
	if l.version == Old {
		if held, err = l.compare(ctx, l.rdb); held {
			err = l.rdb.Del(ctx, l.key).Err()
		}
		return held, err
	}
	err = l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		if held, err = l.compare(ctx, tx); !held {
			return err
		}
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			return pipe.Del(ctx, l.key).Err()
		})
		return err
	}, l.key)
	if errors.Is(err, redis.TxFailedErr) {
		return false, nil
	}
	return held, err
}

// compare reports whether the key has the caller's value.
func (l *Leshan) compare(ctx context.Context, rdb redis.Cmdable) (bool, error) {
	value, err := rdb.Get(ctx, l.key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil && value == l.value, err
}
