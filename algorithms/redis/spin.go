package redis

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

// spin is threadlocal with an Acquire that waits until it gets the lock. (2013. Article 001-F.)
//
// It was meant to fix the refusal, which a user would see.
//
// How it fails: each attempt of a waiter draws a token and puts it into the one variable that the thread has for all
// keys, so waiting for one key overwrites the token of another that is held. All failures of threadlocal remain too.
var spin = threadLocal.Variant("spin", 2013,
	func(env lock.Env) lock.Lock { return &Spin{threadLocal.New(env), env.Clock} }).InArticle("001-F")

// spinReentrant is the same loop around reentrant, as the order of the article suggests. Its second attempt always
// succeeds: the token of the refused first one is still there, and counts as the lock.
var spinReentrant = reentrant.Variant("spin-reentrant", 2013,
	func(env lock.Env) lock.Lock { return &Spin{reentrant.New(env), env.Clock} }).InArticle("001-F-E")

// Spin retries while it is refused, for spinLimit on the client's clock. It is the only
// lock whose Acquire waits, because its article makes waiting a part of the lock.
//
// The article gives no numbers and retries without a break. Ours sleeps for spinRest between two attempts.
type Spin struct {
	inner lock.Lock
	clock lock.Clock
}

const (
	spinLimit = time.Second
	spinRest  = 100 * time.Millisecond
)

// Acquire retries until it has the lock, the limit is reached or the context ends.
func (s *Spin) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	for limit := s.clock.Now().Add(spinLimit); ; s.clock.Sleep(spinRest) {
		lease, err := s.inner.Acquire(ctx, key)
		if !errors.Is(err, lock.ErrNotAcquired) || !s.clock.Now().Before(limit) {
			return lease, err
		}
	}
}
