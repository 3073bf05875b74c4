package redis

import (
	"context"
	"time"

	"locklab/algorithms/lock"
)

// atLeastFor is token with ShedLock's lockAtLeastFor: a release that comes sooner
// leaves the key, with what is left of that time to live. (2017: pull request 7 of
// ShedLock. That the key is looked at first, and not written or deleted whoever
// has it, is an option there since pull request 2593 of 2025.)
//
// It was meant to mend the job that every instance starts on the full minute: done
// in less time than the clocks differ, it would be done once more by an instance
// whose minute begins later.
//
// How it falls: as token does, when the work takes longer than Env.TTL
// (lockAtMostFor: two run at once, as ShedLock's manual warns), and a crash keeps
// everybody out until then. It is no lock to wait for: a holder that is done
// blocks the others for the rest of the time, on purpose.
//
// ShedLock leaves both times to its user. Here the least is a quarter of Env.TTL,
// on the client's clock from before it asks, as there.
var atLeastFor = lock.Entry{
	ID:     "at-least-for",
	Family: lock.OneStep,
	Year:   2017,
	Title:  lock.Text{EN: "ShedLock's lockAtLeastFor: kept for a least time, however soon the job is done", ZH: "ShedLock 的 lockAtLeastFor：任务做完得再快，锁也至少保持一段时间"},
	Nodes:  1,
	TTL:    tokenLock.TTL,
	Unit:   4 * time.Millisecond,
	Expiry: tokenLock.Expiry,
	New:    func(env lock.Env) lock.Strategy { return &AtLeastFor{env: env, least: env.TTL / 4} },
}

var _ lock.Strategy = (*AtLeastFor)(nil)

// AtLeastFor is at-least-for.
type AtLeastFor struct {
	env   lock.Env
	least time.Duration // on the client's clock
}

// Acquire is that of token.
func (s *AtLeastFor) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &keptLease{env: s.env, key: key, token: s.env.Tokens.Token(), until: s.env.Clock.Now().Add(s.least)}
	if err := setIfFree(ctx, s.env.Nodes[0], key, l.token, s.env.TTL); err != nil {
		return nil, err
	}
	return l, nil
}

var _ lock.Reporter = (*keptLease)(nil)

// A keptLease ends at its least time, or when it is given back if that is later.
type keptLease struct {
	reports
	env        lock.Env
	key, token string
	until      time.Time // on the client's clock
}

// Release deletes the key once its least time has passed, and before has it expire
// then. It returns ErrNotHeld when the key is gone or holds another token.
func (l *keptLease) Release(ctx context.Context) error {
	left := l.until.Sub(l.env.Clock.Now())
	if left < time.Millisecond {
		return deleteIfMine(ctx, l.env.Nodes[0], l.key, l.token)
	}
	return expireIfMine(ctx, l.env.Nodes[0], l.key, l.token, left)
}
