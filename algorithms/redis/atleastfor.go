package redis

import (
	"context"
	"time"

	"locklab/algorithms/lock"
)

// atLeastFor is token with ShedLock's lockAtLeastFor: an earlier release does not delete the key but shortens its TTL
// to the rest of the least time. (2017: pull request 7 of ShedLock. That it checks the owner before it writes or
// deletes the key is an option there since pull request 2593 of 2025.)
//
// It was meant to fix the job that every instance starts on the full minute: if it is
// done in less time than the clocks differ, an instance with a slow clock runs it again.
//
// How it fails: as token does, if the work takes longer than Env.TTL (lockAtMostFor: two run at once, as ShedLock's
// manual warns); and after a crash all others are blocked until then. It is not a lock to wait for: a holder that is
// done blocks the others for the rest of the least time, on purpose.
//
// ShedLock leaves both times to its user. Here the least time is a quarter of Env.TTL,
// on the client's clock and counted from before Acquire sends its command, as there.
var atLeastFor = tokenLock.Variant("at-least-for", 2017,
	func(env lock.Env) lock.Lock { return &AtLeastFor{env: env, least: env.TTL / 4} }).
	Changed(func(e *lock.Entry) { e.Unit = 4 * time.Millisecond })

// AtLeastFor is the lock at-least-for.
type AtLeastFor struct {
	env   lock.Env
	least time.Duration // on the client's clock
}

// Acquire is that of token.
func (s *AtLeastFor) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &atLeastForLease{env: s.env, key: key, token: s.env.Tokens.Token(), until: s.env.Clock.Now().Add(s.least)}
	if err := setNXPX(ctx, s.env.Nodes[0], key, l.token, s.env.TTL); err != nil {
		return nil, err
	}
	return l, nil
}

type atLeastForLease struct {
	reports
	env        lock.Env
	key, token string
	until      time.Time // end of the least time, on the client's clock
}

// Release deletes the key if its least time has passed; otherwise it sets the TTL to the
// rest of it. It returns ErrNotHeld if the key is gone or holds another token.
func (l *atLeastForLease) Release(ctx context.Context) error {
	left := l.until.Sub(l.env.Clock.Now())
	if left < time.Millisecond {
		return compareAndDelete(ctx, l.env.Nodes[0], l.key, l.token)
	}
	return compareAndExpire(ctx, l.env.Nodes[0], l.key, l.token, left)
}
