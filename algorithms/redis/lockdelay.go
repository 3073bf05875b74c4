package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// lockDelay is token whose key outlives the lease: a lock that was given back is
// free at once, one that was lost stays closed for half a TTL longer. (2014: the
// lock-delay of Consul, 15 s by default; Chubby had it in 2006.)
//
// It was meant to mend the holder that is late by a little: a pause, or a write
// that is still on its way, which ends within the delay meets no successor.
//
// How it falls: as token does, by anything that takes longer than TTL and delay.
// And a holder that crashed blocks the others for the delay as well.
//
// Chubby and Consul count the delay from the end of a session. Redis has none, so
// here the key simply lives for 1.5 Env.TTL, and the lease's Check says by the
// client's own clock when Env.TTL is over.
var lockDelay = lock.Entry{
	ID:     "lock-delay",
	Family: lock.OneStep,
	Year:   2014,
	Title:  lock.Text{EN: "lock-delay: after an expiry, but not after a release, the lock stays closed for a while", ZH: "lock-delay：锁若是到期失效而非主动释放，则过一段时间才能再被获取"},
	Nodes:  1,
	TTL:    30 * time.Second,
	Unit:   2 * time.Millisecond,
	Expiry: lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return &LockDelay{newKeyLock(env, env.Tokens.Token, setWithDelay, mine)}
	},
}

func setWithDelay(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	return setIfFree(ctx, node, key, token, ttl+ttl/2)
}

var _ lock.Strategy = (*LockDelay)(nil)

// LockDelay is lock-delay.
type LockDelay struct{ lock *KeyLock }

// Acquire is that of a KeyLock.
func (s *LockDelay) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	// Read before the server begins to count, so that the lease ends here first.
	end := s.lock.clock.Now().Add(s.lock.ttl)
	lease, err := s.lock.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	return &delayedLease{Lease: lease, clock: s.lock.clock, end: end}, nil
}

var (
	_ lock.Reporter = (*delayedLease)(nil)
	_ lock.Checker  = (*delayedLease)(nil)
)

// A delayedLease is given back as that of a KeyLock, also within the delay.
type delayedLease struct {
	lock.Lease
	reports
	clock lock.Clock
	end   time.Time // on the client's clock
}

// Check returns ErrNotHeld once the TTL is over by the client's own clock. It
// asks no server.
func (l *delayedLease) Check(context.Context) error {
	if !l.clock.Now().Before(l.end) {
		return lock.ErrNotHeld
	}
	return nil
}
