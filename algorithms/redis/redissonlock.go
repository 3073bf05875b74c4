package redis

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

// redissonLock is lock() and tryLock(waitTime) of watchdog: a waiter subscribes to the lock's channel, tries again, and
// then waits for a message or the end of the holder's lease. (2014, as watchdog: RedissonLock.lock.)
//
// It was meant to fix polling: every second, it is up to a second late; every millisecond, it keeps the server busy.
//
// How it fails: as watchdog does. And every release wakes all waiters: one gets the lock, and the others are refused.
var redissonLock = watchdog.Variant("redisson-lock", 2014,
	func(env lock.Env) lock.Lock { return &RedissonLock{newWatchdog(env)} })

var _ lock.Queuer = (*RedissonLock)(nil)

// RedissonLock is the lock redisson-lock: a [Watchdog] that can wait.
//
// Where it differs from Redisson's: a waiter has a subscription of its own, which Redisson's process shares among its
// threads. It wakes up a millisecond after the reported end of the lease: Redis reports a key's last millisecond as 0,
// and during it Redisson keeps polling. And it tries again when its connection breaks: a message may be lost with it.
type RedissonLock struct{ *Watchdog }

// Await is tryLock(patience). There is no queue: the client that first tries after a release
// gets the lock. Its errors are those of Acquire and of the subscription.
func (s *RedissonLock) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	wait := func(messages *subscription, end time.Time) (lock.Lease, error) {
		for {
			lease, left, err := s.try(ctx, key)
			if !errors.Is(err, lock.ErrNotAcquired) {
				return lease, err
			}
			rest := untilEnd(s.clock, end)
			if rest <= 0 {
				return nil, lock.ErrNotAcquired
			}
			if left >= 0 {
				rest = min(rest, left+time.Millisecond)
			}
			messages.wait(ctx, rest)
		}
	}
	return tryAndSubscribe(ctx, s, s.node, s.clock, key, patience, wait)
}
