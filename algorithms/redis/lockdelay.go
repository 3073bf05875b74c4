package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// lockDelay is token with a key that outlives the lease: the lock is free at once after a release, and half a TTL later
// after a lease that ended by itself. (2014: the lock-delay of Consul, 15 s by default; Chubby had it in 2006.)
//
// It was meant for the holder that is a little late: a pause or a write that ends within the delay has no successor.
//
// How it fails: as token, with anything longer than TTL and delay. A crashed holder blocks others for the delay too.
//
// Chubby and Consul count the delay from the end of a session. Redis has no sessions, so here the key lives for 1.5
// times Env.TTL, and Check of the lease says by the client's own clock when Env.TTL is over.
var lockDelay = tokenLock.Variant("lock-delay", 2014,
	func(env lock.Env) lock.Lock {
		return &LockDelay{newKeyLock(env, env.Tokens, createFunc(setWithDelay), reporting(compareAndDelete))}
	}).Changed(func(e *lock.Entry) { e.Unit = 2 * time.Millisecond })

func setWithDelay(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	return setNXPX(ctx, node, key, token, ttl+ttl/2)
}

// LockDelay is the lock lock-delay.
type LockDelay struct{ lock *KeyLock }

// Acquire is that of a KeyLock.
func (s *LockDelay) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	// Read before the server begins to count, so that the lease ends first on this side.
	end := s.lock.clock.Now().Add(s.lock.ttl)
	lease, err := s.lock.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	return &delayedLease{Lease: lease, clock: s.lock.clock, end: end}, nil
}

var _ lock.Checker = (*delayedLease)(nil)

// A delayedLease is released like that of a KeyLock, within the delay too.
type delayedLease struct {
	lock.Lease
	reports
	clock lock.Clock
	end   time.Time // on the client's clock
}

// Check returns ErrNotHeld once the TTL has passed on the client's own clock. It sends nothing to the server.
func (l *delayedLease) Check(context.Context) error {
	if !l.clock.Now().Before(l.end) {
		return lock.ErrNotHeld
	}
	return nil
}
