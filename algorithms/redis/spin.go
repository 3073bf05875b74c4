package redis

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

// spinning is threadlocal whose Acquire waits for its turn. (2013. Article 001-F.)
//
// It was meant to mend the refusal that a user would see.
//
// How it falls: each try of a waiter draws a token into the one place that the
// thread has for it, so a spin for one key takes the token of another that is held;
// and all of threadlocal's falls.
var spinning = lock.Entry{
	ID:      "spin",
	Family:  lock.OneStep,
	Article: "001-F",
	Year:    2013,
	Title:   lock.Text{EN: "a spin lock with a time limit, around threadlocal", ZH: "限时自旋，套在 threadlocal 外面"},
	Nodes:   1,
	TTL:     threadLocal.TTL,
	Unit:    threadLocal.Unit,
	Expiry:  threadLocal.Expiry,
	New:     func(env lock.Env) lock.Strategy { return &Spin{threadLocal.New(env), env.Clock} },
}

// spinReentrant spins around reentrant, as the article's order suggests. Its
// second try always succeeds: the token of the refused first one is still there,
// and counts as the lock.
var spinReentrant = lock.Entry{
	ID:      "spin-reentrant",
	Family:  lock.Reentrant,
	Article: "001-F-E",
	Year:    2013,
	Title:   lock.Text{EN: "a spin lock with a time limit, around reentrant", ZH: "限时自旋，套在 reentrant 外面"},
	Nodes:   1,
	TTL:     reentrant.TTL,
	Unit:    reentrant.Unit,
	Expiry:  reentrant.Expiry,
	New:     func(env lock.Env) lock.Strategy { return &Spin{reentrant.New(env), env.Clock} },
}

var _ lock.Strategy = (*Spin)(nil)

// Spin tries again while it is refused, for spinLimit of the client's clock. It is
// the one strategy that waits, since its article makes the waiting part of it.
//
// The article gives no numbers, and spins without a rest. Ours rests for spinRest
// between two tries.
type Spin struct {
	inner lock.Strategy
	clock lock.Clock
}

const (
	spinLimit = time.Second
	spinRest  = 100 * time.Millisecond
)

// Acquire tries until it has the lock, the limit is reached or the context ends.
func (s *Spin) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	for limit := s.clock.Now().Add(spinLimit); ; s.clock.Sleep(spinRest) {
		lease, err := s.inner.Acquire(ctx, key)
		if !errors.Is(err, lock.ErrNotAcquired) || !s.clock.Now().Before(limit) {
			return lease, err
		}
	}
}
