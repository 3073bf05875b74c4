package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// naiveWake is token with a release that publishes a message, for which waiters subscribe
// and wait. (2013: the obvious solution with the token lock and pub/sub.)
//
// It was meant to fix polling, as redisson-lock.
//
// How it fails: a waiter misses a release between its refused attempt and its subscription. And if the holder dies, the
// waiter waits for a message that is never sent. In both cases the lock is free, and the waiter keeps waiting.
var naiveWake = tokenLock.Variant("naive-wake", 2013,
	func(env lock.Env) lock.Lock {
		return &NaiveWake{newKeyLock(env, env.Tokens, createFunc(setNXPX), reporting(deleteAndPublish))}
	})

var _ lock.Queuer = (*NaiveWake)(nil)

// NaiveWake is the lock naive-wake.
type NaiveWake struct{ *KeyLock }

// Await tries, subscribes, and tries again after each message, until patience has passed on
// the client's clock. Its errors are those of Acquire and of the subscription.
func (s *NaiveWake) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	wait := func(messages *subscription, end time.Time) (lock.Lease, error) {
		for {
			// The weak point: a release before the subscription has been missed.
			rest := untilEnd(s.clock, end)
			if rest <= 0 || !messages.wait(ctx, rest) {
				return nil, lock.ErrNotAcquired
			}
			lease, err := s.Acquire(ctx, key)
			if !errors.Is(err, lock.ErrNotAcquired) {
				return lease, err
			}
		}
	}
	return tryAndSubscribe(ctx, s, s.node, s.clock, key, patience, wait)
}

// deleteAndPublishScript is compareAndDeleteScript with a message to the waiters. KEYS:
// lock, channel. ARGV: token, message. Reply: number of keys deleted.
var deleteAndPublishScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("PUBLISH", KEYS[2], ARGV[2])
return redis.call("DEL", KEYS[1])
`)

func deleteAndPublish(ctx context.Context, node redis.UniversalClient, key, token string) error {
	reply := deleteAndPublishScript.Eval(ctx, node, []string{key, unlockChannel(key)}, token, unlockMessage)
	return notHeldIfZero(reply, "compare, delete and publish", key)
}
