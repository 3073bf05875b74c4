package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// tokenWait is token that needs a replica: it sends SET and WAIT together, and if no replica has acknowledged the key
// in time, it deletes the key and refuses the lock. (2015: WAIT came with Redis 3.0 in April.)
//
// It was meant to fix the failover to a replica that has not received the key.
//
// How it fails: WAIT counts replicas, but does not choose which one is promoted: of two replicas, the one that has not
// acknowledged may become the master. A promoted replica that restarts empty loses the key all the same. And while no
// replica answers, every Acquire is refused, although the lock is free.
var tokenWait = tokenLock.Variant("token-wait", 2015,
	withToken(setAndWait, reporting(compareAndDelete))).Changed(replicated)

const (
	// waitReplicas is the number of replicas that must acknowledge.
	waitReplicas = 1
	// waitTime is the longest time that the server waits for them, as in Redisson.
	waitTime = time.Second
)

// replicated is for servers with replicas.
func replicated(e *lock.Entry) { e.Replicas = waitReplicas }

// setAndWait sends SET NX PX and WAIT in one pipeline. If too few replicas have
// acknowledged in time it deletes the key and returns ErrNotAcquired, wrapped.
func setAndWait(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	reply, acked, err := sendWithWAIT(ctx, node, waitReplicas, waitTime, func(p redis.Pipeliner) *redis.Cmd {
		return p.Do(ctx, "SET", key, token, "NX", "PX", ttl.Milliseconds())
	})
	if err := refusedIfNil(reply, lock.ErrNotAcquired, "SET NX PX", key); err != nil {
		return err
	}
	if err == nil && acked >= waitReplicas {
		return nil
	}
	// Delete the key even if the caller has cancelled ctx.
	if err := errors.Join(err, compareAndDelete(context.WithoutCancel(ctx), node, key, token)); err != nil {
		return err
	}
	return fmt.Errorf("%w: %d replicas acknowledged, want %d", lock.ErrNotAcquired, acked, waitReplicas)
}
