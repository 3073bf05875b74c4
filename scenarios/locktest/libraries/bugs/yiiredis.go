package bugs

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// YiiRedis is ARedisMutex of phpnode/YiiRedis.
//
//	Old    before 24 December 2013
//	Fixed  commit 613e969
//	https://github.com/phpnode/YiiRedis/pull/18
//
// The value of the key is the time at which the lock ends; the key itself has none. Whoever read that a lock had ended
// took it for his own, and wrote nothing: all who came after a holder had died got the lock at once. The repair sets a
// new time by GETSET, and only the one who replaces the time that he has read has the lock.
//
// The port's times are in milliseconds.
type YiiRedis struct {
	rdb     *redis.Client
	key     string
	ttl     time.Duration
	version Version
	ends    int64
}

// NewYiiRedis returns a lock on key.
func NewYiiRedis(v Version, rdb *redis.Client, key string, ttl time.Duration) *YiiRedis {
	return &YiiRedis{rdb: rdb, key: key, ttl: ttl, version: v}
}

// newEnd returns the time at which a lock ends that is taken now.
func (l *YiiRedis) newEnd() string {
	l.ends = time.Now().Add(l.ttl).UnixMilli()
	return strconv.FormatInt(l.ends, 10)
}

// Acquire asks once.
func (l *YiiRedis) Acquire(ctx context.Context) (bool, error) {
	set, err := l.rdb.SetNX(ctx, l.key, l.newEnd(), 0).Result()
	if set || err != nil {
		return set, err
	}
	ends, err := read(l.rdb.Get(ctx, l.key))
	if err != nil || ends > time.Now().UnixMilli() {
		return false, err
	}
	if l.version == Old {
		return true, nil
	}
	current, err := read(l.rdb.Do(ctx, "getset", l.key, l.newEnd()))
	return err == nil && current == ends, err
}

// read returns a time, 0 where the key is missing, as PHP does.
func read(answer interface{ Int64() (int64, error) }) (int64, error) {
	ends, err := answer.Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return ends, err
}

// Release gives the lock back.
func (l *YiiRedis) Release(ctx context.Context) (bool, error) {
	ends, err := read(l.rdb.Get(ctx, l.key))
	if err != nil || ends < l.ends && ends > time.Now().UnixMilli() {
		return false, err
	}
	return true, l.rdb.Del(ctx, l.key).Err()
}
