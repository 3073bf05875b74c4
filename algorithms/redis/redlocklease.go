package redis

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var _ lock.Checker = (*redlockLease)(nil)

type redlockLease struct {
	reports
	lock       *Redlock
	key, token string
	validUntil int64 // on the client's clock, in Unix milliseconds; exclusive
}

// Check returns ErrNotHeld once the validity is over on the client's own clock. It asks no
// server: nil is wrong if servers have lost their keys or the clocks run at different rates.
func (l *redlockLease) Check(context.Context) error {
	if l.lock.now() >= l.validUntil {
		return lock.ErrNotHeld
	}
	return nil
}

// Release deletes the token on all servers, including those that never had it, and reports whether the lock was held
// when the release began. A token that is gone from a server does not come back, so
//   - nil: a majority still had it, and no other client can have had the lock;
//   - ErrNotHeld: no majority had it, even if every server that did not answer had;
//   - the servers' errors, joined: it depends on their answers.
//
// Release ignores the validity: when that is over a majority may still have the token.
func (l *redlockLease) Release(ctx context.Context) error {
	votes := l.takeBack(ctx, l.lock.nodes)
	quorum := l.lock.quorum()
	switch {
	case votes.yes >= quorum:
		return nil
	case votes.yes+len(votes.errs) < quorum:
		return lock.ErrNotHeld
	}
	return l.lock.undecided("compare and delete", l.key, votes)
}

// takeBack deletes the token on those of nodes that have it.
func (l *redlockLease) takeBack(ctx context.Context, nodes []redis.UniversalClient) votes {
	return l.lock.poll(nodes, len(nodes), func(node redis.UniversalClient) error {
		return compareAndDelete(ctx, node, l.key, l.token)
	}, lock.ErrNotHeld)
}

var _ lock.Renewer = (*extendableLease)(nil)

type extendableLease struct{ *redlockLease }

// Renew resets the TTL on every server that still has the token. The lease is extended if these are a majority and some
// of the new validity is left; otherwise it ends when it would have ended, and Renew returns
//   - ErrNotHeld, if the validity was over, or if so many servers had lost the token that the
//     others are no majority;
//   - ErrNotHeld, wrapped, if a majority agreed but too late;
//   - the servers' errors, joined, if they made the difference.
func (l *extendableLease) Renew(ctx context.Context) error {
	s := l.lock
	start := s.now()
	if start >= l.validUntil {
		return lock.ErrNotHeld // another client may have had the lock in between
	}
	votes := s.poll(s.nodes, len(s.nodes), func(node redis.UniversalClient) error {
		return compareAndExpire(ctx, node, l.key, l.token, s.ttl)
	}, lock.ErrNotHeld)
	end := s.now()

	validity := s.validity(start, end)
	switch {
	case votes.yes >= s.quorum() && end >= l.validUntil, votes.yes >= s.quorum() && validity <= 0:
		return fmt.Errorf("%w: the servers took %d ms", lock.ErrNotHeld, end-start)
	case votes.yes >= s.quorum():
		l.validUntil = end + validity
		return nil
	case votes.no > len(s.nodes)-s.quorum():
		return lock.ErrNotHeld
	}
	return s.undecided("compare and expire", l.key, votes)
}
