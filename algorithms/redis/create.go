package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Ways to create the key. Each is a createFunc.

// setnx creates a key without a TTL.
func setnx(ctx context.Context, node redis.UniversalClient, key, value string, _ time.Duration) error {
	created, err := sendSETNX(ctx, node, key, value)
	if err == nil && !created {
		return lock.ErrNotAcquired
	}
	return err
}

// setnxThenExpire creates the key and then sets its TTL, in whole seconds.
func setnxThenExpire(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error {
	if err := setnx(ctx, node, key, value, ttl); err != nil {
		return err
	}
	// Until the server runs EXPIRE the key has no TTL. The reply is not checked.
	if err := node.Expire(ctx, key, ttl).Err(); err != nil {
		return lock.Unknown("EXPIRE", key, err)
	}
	return nil
}

// setNXEX sends SET key value NX EX ttl, with ttl in whole seconds.
func setNXEX(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error {
	return sendSET(ctx, node, lock.ErrNotAcquired, key, value, "NX", "EX", int64(ttl/time.Second))
}

// setNXPX sends SET key value NX PX ttl, with ttl in whole milliseconds and the words in the order of the articles.
func setNXPX(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error {
	return sendSET(ctx, node, lock.ErrNotAcquired, key, value, "NX", "PX", ttl.Milliseconds())
}
