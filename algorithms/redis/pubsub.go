package redis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Waiting for the message that a release publishes, instead of polling. The order makes it correct: subscribe, try
// again, and only then wait; and never longer than the holder's lease.

// unlockMessage is the message that a release publishes.
const unlockMessage = 0

// unlockChannel is Redisson's channel for key: braces put it on the key's shard of a cluster; a key with its own stays.
func unlockChannel(key string) string {
	if strings.Contains(key, "{") {
		return "redisson_lock__channel:" + key
	}
	return "redisson_lock__channel:{" + key + "}"
}

// tryAndSubscribe calls s.Acquire. If that is refused it subscribes to the channel of key and returns what wait
// returns, which may use the subscription until end. patience and end are on the client's clock; without patience there
// is no subscription. Its own errors are those of Acquire and of the subscription. Without end no clock is read.
func tryAndSubscribe(ctx context.Context, s lock.Lock, node redis.UniversalClient, clock lock.Clock,
	key string, patience time.Duration, wait func(*subscription, time.Time) (lock.Lease, error)) (lock.Lease, error) {
	end := endOf(clock, patience)
	lease, err := s.Acquire(ctx, key)
	if patience <= 0 || !errors.Is(err, lock.ErrNotAcquired) {
		return lease, err
	}
	messages, err := subscribe(ctx, node, clock, unlockChannel(key), patience)
	if err != nil {
		return nil, err
	}
	defer messages.Close()
	return wait(messages, end)
}

// never is an end of patience that no clock reaches.
var never = time.Unix(1<<33, 0).UTC() // in the year 2242

// endOf returns the end of a patience that begins now.
func endOf(clock lock.Clock, patience time.Duration) time.Time {
	if patience == lock.Forever {
		return never
	}
	return clock.Now().Add(patience)
}

// untilEnd returns the rest of the patience.
func untilEnd(clock lock.Clock, end time.Time) time.Duration {
	if end.Equal(never) {
		return lock.Forever
	}
	return end.Sub(clock.Now())
}

// A subscription is to one channel, on a connection of its own.
type subscription struct {
	*redis.PubSub
	clock lock.Clock
}

// subscribe returns when the server has confirmed the subscription: messages that it
// publishes from then on are received. It waits for that for at most patience on clock.
func subscribe(ctx context.Context, node redis.UniversalClient, clock lock.Clock,
	channel string, patience time.Duration) (*subscription, error) {
	s := &subscription{node.Subscribe(ctx, channel), clock}
	if _, err := s.receive(ctx, patience); err != nil {
		s.Close()
		return nil, fmt.Errorf("redis: SUBSCRIBE %q: %w", channel, err)
	}
	return s, nil
}

// wait returns false if d has passed on the client's clock. It returns true earlier if there is a reason to try again:
// a message, or a broken connection, with which a message may have been lost.
func (s *subscription) wait(ctx context.Context, d time.Duration) bool {
	_, err := s.receive(ctx, d)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func (s *subscription) receive(ctx context.Context, d time.Duration) (any, error) {
	// The time-out of go-redis would count on the machine's clock. Without any, go-redis
	// would treat the end of the wait as a broken connection. So it gets a longer one.
	return s.ReceiveTimeout(clientDeadline{ctx, endOf(s.clock, d)}, min(d, lock.Forever-time.Hour)+time.Hour)
}

// A clientDeadline is a context with a deadline on the client's clock, enforced by the connection. It cancels nothing.
type clientDeadline struct {
	context.Context
	end time.Time
}

// Deadline implements [context.Context].
func (c clientDeadline) Deadline() (time.Time, bool) {
	if end, ok := c.Context.Deadline(); ok && end.Before(c.end) {
		return end, true
	}
	return c.end, true
}
