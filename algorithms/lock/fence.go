package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// errNoCounter is the error of Acquire unless Env has exactly one server.
var errNoCounter = errors.New("lock: fencing needs exactly one server")

// Fence returns s with fencing tokens. A lease that is a [Fencer] keeps its own; for any other, after each successful
// Acquire it sends INCR key:fence to the same server, and the lease is a [Fencer] that carries the reply. A resource
// that refuses tokens below the highest it has seen is then safe from a holder that lost its lock without noticing.
//
// It is only as strong as two commands on one server:
//   - If the holder pauses for longer than its lease between Acquire and INCR, it
//     has lost the lock and still gets the higher token. The resource then refuses
//     the rightful holder.
//   - The counter is only as durable as the server. After a failover or a restart
//     that loses increments, old tokens are handed out again; after an eviction the
//     counter starts at 1.
//   - Acquire holds the lock for one more round trip before it returns.
//
// If INCR fails, Acquire releases the lock and returns the error. Unless env has exactly one server, Acquire returns an
// error and does not call s: counters of independent servers define no common order.
//
// The lease is a [Reporter] if the lease of s is one. A type assertion does not find the other powers of the lease of
// s; [As] does. The result is never a [Closer]: close s itself.
func Fence(s Lock, env Env) Lock { return &fence{s, env.Nodes} }

type fence struct {
	inner Lock
	nodes []redis.UniversalClient
}

// Acquire acquires with the inner lock and then draws a token.
func (s *fence) Acquire(ctx context.Context, key string) (Lease, error) {
	if len(s.nodes) != 1 {
		return nil, errNoCounter
	}
	lease, err := s.inner.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, ok := As[Fencer](lease); ok {
		return lease, nil
	}
	// The weak point: a token that is drawn too late is too high.
	token, err := s.next(ctx, key)
	if err != nil {
		// Release the lock even if the caller has cancelled ctx.
		return nil, errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
	}
	fenced := fencedLease{lease, token}
	if _, ok := lease.(Reporter); ok {
		return &reportingFencedLease{fencedLease: fenced}, nil
	}
	return &fenced, nil
}

// next draws the next token of the key.
func (s *fence) next(ctx context.Context, key string) (uint64, error) {
	counter := key + ":fence"
	token, err := s.nodes[0].Incr(ctx, counter).Result()
	switch {
	case err != nil:
		return 0, Unknown("INCR", counter, err)
	case token <= 0:
		return 0, fmt.Errorf("lock: fence counter %q is at %d: set it above every token handed out", counter, token)
	}
	return uint64(token), nil
}

var _ Fencer = (*fencedLease)(nil)

type fencedLease struct {
	Lease
	token uint64
}

// FencingToken implements [Fencer].
func (l *fencedLease) FencingToken() uint64 { return l.token }

// Unwrap returns the lease of the fenced lock.
func (l *fencedLease) Unwrap() Lease { return l.Lease }

type reportingFencedLease struct {
	fencedLease
	Reporting
}
