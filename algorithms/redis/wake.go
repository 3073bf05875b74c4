package redis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Waiting for the message that a release publishes, in place of asking again and
// again. What makes it a lock and not a race is the order: subscribe, try again,
// and only then wait, and never for longer than the holder's lease.

// redissonLock is lock() and tryLock(waitTime) of watchdog: a waiter subscribes to
// the lock's channel, tries again, and then waits for a message or for the end of
// the holder's lease, whichever comes first. (2014, as watchdog: RedissonLock.lock.)
//
// It was meant to mend polling: a waiter that asks each second is a second late, and
// one that asks each millisecond keeps the server busy.
//
// How it falls: as watchdog does. And each release wakes all who wait: one gets the
// lock, the others have tried in vain.
var redissonLock = lock.Entry{
	ID:     "redisson-lock",
	Family: lock.Redisson,
	Year:   2014,
	Title:  lock.Text{EN: "Redisson's lock(): waits for the unlock message, or for the lease to end", ZH: "Redisson 的 lock()：等解锁消息，或者等租约到期"},
	Nodes:  1,
	TTL:    30 * time.Second,
	Unit:   time.Millisecond,
	Expiry: lock.ExpiryServer,
	New:    func(env lock.Env) lock.Strategy { return &RedissonLock{newWatchdog(env)} },
}

var _ lock.Queuer = (*RedissonLock)(nil)

// RedissonLock is redisson-lock: a [Watchdog] that can wait.
//
// Where it differs from RedissonLock: a waiter has a subscription of its own, which
// Redisson's process shares among its threads; it wakes a millisecond after the lease
// that it was told of, since Redis counts a key's last millisecond as 0 and Redisson
// asks again and again in it; and it tries again when its connection has broken, since
// a message may have been lost with it.
type RedissonLock struct{ *Watchdog }

// Await is tryLock(patience). It has no place in a line: who is first to try after a
// release gets the lock. Its errors are those of Acquire and of the subscription.
func (s *RedissonLock) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	end := s.clock.Now().Add(patience)
	lease, _, err := s.try(ctx, key)
	if patience <= 0 || !errors.Is(err, lock.ErrNotAcquired) {
		return lease, err
	}
	channel, err := listen(ctx, s.node, s.clock, unlockChannel(key), patience)
	if err != nil {
		return nil, err
	}
	defer channel.Close()
	for {
		lease, left, err := s.try(ctx, key)
		if !errors.Is(err, lock.ErrNotAcquired) {
			return lease, err
		}
		rest := end.Sub(s.clock.Now())
		if rest <= 0 {
			return nil, lock.ErrNotAcquired
		}
		if left >= 0 {
			rest = min(rest, left+time.Millisecond)
		}
		channel.wait(ctx, rest)
	}
}

// naiveWake is token whose release publishes, and whose waiters subscribe and wait.
// (2013: what one writes who has the token lock and pub/sub at hand.)
//
// It was meant to mend polling, as redisson-lock.
//
// How it falls: a release between the refused try and the subscription is missed, and
// one that is never sent, since the holder died, is waited for all the same. The lock
// is free then, and its waiter waits on.
var naiveWake = lock.Entry{
	ID:     "naive-wake",
	Family: lock.OneStep,
	Year:   2013,
	Title:  lock.Text{EN: "token with a message at release, waited for without a second look", ZH: "token 释放时发布消息；等消息的人订阅之后不再看一眼"},
	Nodes:  1,
	TTL:    30 * time.Second,
	Unit:   time.Millisecond,
	Expiry: lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return &NaiveWake{newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: deleteAndTell, reports: true})}
	},
}

var _ lock.Queuer = (*NaiveWake)(nil)

// NaiveWake is naive-wake.
type NaiveWake struct{ *KeyLock }

// Await tries, subscribes, and tries again with each message, until its patience is
// at an end. Its errors are those of Acquire and of the subscription.
func (s *NaiveWake) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	end := s.clock.Now().Add(patience)
	lease, err := s.Acquire(ctx, key)
	if patience <= 0 || !errors.Is(err, lock.ErrNotAcquired) {
		return lease, err
	}
	// The weak place: a release before the server knows the subscription is missed.
	channel, err := listen(ctx, s.node, s.clock, unlockChannel(key), patience)
	if err != nil {
		return nil, err
	}
	defer channel.Close()
	for {
		rest := end.Sub(s.clock.Now())
		if rest <= 0 || !channel.wait(ctx, rest) {
			return nil, lock.ErrNotAcquired
		}
		lease, err := s.Acquire(ctx, key)
		if !errors.Is(err, lock.ErrNotAcquired) {
			return lease, err
		}
	}
}

// compareDeleteAndTell is compareAndDelete with a message to who waits. KEYS: lock,
// channel. ARGV: token, message. Reply: how many keys went.
var compareDeleteAndTell = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("PUBLISH", KEYS[2], ARGV[2])
return redis.call("DEL", KEYS[1])
`)

func deleteAndTell(ctx context.Context, node redis.UniversalClient, key, token string) error {
	keys := []string{key, unlockChannel(key)}
	return changed("compare, delete and tell", key, compareDeleteAndTell.Eval(ctx, node, keys, token, unlockMessage))
}

// A channel is a subscription, on a connection of its own.
type channel struct {
	*redis.PubSub
	clock lock.Clock
}

// listen subscribes, and returns when the server has said so: what it publishes from
// then on is heard. It waits for that for at most patience, and for the network.
func listen(ctx context.Context, node redis.UniversalClient, clock lock.Clock, name string, patience time.Duration) (*channel, error) {
	c := &channel{node.Subscribe(ctx, name), clock}
	if _, err := c.receive(ctx, patience); err != nil {
		c.Close()
		return nil, fmt.Errorf("algorithms: SUBSCRIBE %q: %w", name, err)
	}
	return c, nil
}

// wait says whether there is reason to try again before d has passed on the client's
// clock: a message, or a connection that broke, by which one may have been lost.
func (c *channel) wait(ctx context.Context, d time.Duration) bool {
	_, err := c.receive(ctx, d)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func (c *channel) receive(ctx context.Context, d time.Duration) (any, error) {
	// A time-out of go-redis's own would count on the machine's clock, and none at
	// all would have it take the end of the wait for a broken connection.
	return c.ReceiveTimeout(until{ctx, c.clock.Now().Add(d)}, d+time.Hour)
}

// until is a context whose deadline is the client's own, for a connection to keep.
// Nothing is cancelled when it comes.
type until struct {
	context.Context
	end time.Time
}

// Deadline implements [context.Context].
func (u until) Deadline() (time.Time, bool) {
	if end, ok := u.Context.Deadline(); ok && end.Before(u.end) {
		return end, true
	}
	return u.end, true
}
