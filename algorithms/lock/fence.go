package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// errNoCounter is what Acquire returns on an Env without a single server.
var errNoCounter = errors.New("algorithms: no single server to count on")

// Fence returns s with fencing tokens: after each successful Acquire it sends
// INCR key:fence to the same server, and the lease is a [Fencer] that carries the
// reply. A resource that refuses every token below the highest it has seen is
// then safe from a holder that lost its lock without knowing.
//
// It is as weak as two commands on one server are:
//   - A pause between Acquire and INCR, longer than the lease, gives the holder
//     that is already superseded the higher token, and the resource refuses the
//     right one.
//   - The counter is as durable as the server. A failover or a restart that
//     loses increments hands out old tokens again; an eviction starts at 1.
//   - The lock is held for one round trip more before Acquire returns.
//
// If INCR fails, Acquire gives the lock back and returns the error. With more or
// fewer servers than one in env there is no counter to trust, as independent
// counters do not agree on an order: Acquire then returns an error without asking
// s.
//
// The lease is a [Reporter] if that of s is one. It hides the other powers of the
// lease of s from a type assertion; [As] finds them. A [Closer] is hidden as well:
// close s itself.
func Fence(s Strategy, env Env) Strategy {
	return &fence{s, env.Nodes}
}

var _ Strategy = (*fence)(nil)

type fence struct {
	inner Strategy
	nodes []redis.UniversalClient
}

// Acquire acquires by the inner strategy and then draws a token.
func (s *fence) Acquire(ctx context.Context, key string) (Lease, error) {
	if len(s.nodes) != 1 {
		return nil, errNoCounter
	}
	lease, err := s.inner.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	// The weak place: a token drawn late is a token too high.
	token, err := s.next(ctx, key)
	if err != nil {
		// A caller who gave up must not leave the lock behind.
		return nil, errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
	}
	fenced := fencedLease{lease, token}
	if _, ok := lease.(Reporter); ok {
		return &reportingFencedLease{fenced}, nil
	}
	return &fenced, nil
}

// next draws the key's next token.
func (s *fence) next(ctx context.Context, key string) (uint64, error) {
	counter := key + ":fence"
	token, err := s.nodes[0].Incr(ctx, counter).Result()
	switch {
	case err != nil:
		return 0, Unknown("INCR", counter, err)
	case token <= 0:
		return 0, fmt.Errorf("algorithms: fence counter %q is at %d: set it above every token handed out", counter, token)
	}
	return uint64(token), nil
}

var (
	_ Fencer   = (*fencedLease)(nil)
	_ Reporter = (*reportingFencedLease)(nil)
)

type fencedLease struct {
	Lease
	token uint64
}

// FencingToken implements [Fencer].
func (l *fencedLease) FencingToken() uint64 { return l.token }

// Unwrap returns the lease of the fenced strategy.
func (l *fencedLease) Unwrap() Lease { return l.Lease }

type reportingFencedLease struct{ fencedLease }

// Reports implements [Reporter].
func (l *reportingFencedLease) Reports() {}

// As finds the power P in l or, if l wraps another lease (it then has a method
// Unwrap() Lease), in the leases within, as errors.As does for errors.
func As[P Lease](l Lease) (P, bool) {
	for {
		if power, ok := l.(P); ok {
			return power, true
		}
		wrapper, ok := l.(interface{ Unwrap() Lease })
		if !ok {
			var none P
			return none, false
		}
		l = wrapper.Unwrap()
	}
}
