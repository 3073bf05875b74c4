package algorithms

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

var _ Strategy = (*SetNXExpire)(nil)

var setNXExpire = Entry{
	ID:      "setnx-expire",
	Article: "004-A",
	Year:    2009,
	Title:   "SETNX, then EXPIRE, then DEL: two commands where one is needed",
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  ExpiryServer,
	New:     func(env Env) Strategy { return &SetNXExpire{env.Nodes[0], env.TTL} },
}

// SetNXExpire creates the key and then gives it a TTL. (2009: EXPIRE came in
// April 2009, a month after SETNX. Article 004-A; 003-B differs in the TTL, 3 s.)
//
// It was meant to mend the deadlock of [SetNX]: a crashed holder's key now goes
// away by itself.
//
// How it falls: a crash, or an error, between the two commands leaves the key
// without a TTL, the old deadlock in a smaller window. And the TTL brings a fall
// of its own: a holder that works or pauses for longer than the TTL shares the
// critical section with its successor, and its DEL then removes the successor's
// key, which lets a third client in.
//
// And for a while it did not lock at all. From December 2009 up to Redis 2.0 a
// SETNX removed a key that carried a TTL and put its own in place (Redis's own
// test suite asked for that), so the second client won as well; 2.2, of February
// 2011, lets the first one stand. A lock of that time had better keep its expiry
// in the value, as [GetSet] does.
//
// Our form is the article's. The try block begins after EXPIRE, so an error of
// EXPIRE leaves Acquire and nobody deletes the key; and the reply of EXPIRE is
// not read, so a 0 (the key went in between) still counts as acquired. Env.TTL
// goes out in whole seconds.
type SetNXExpire struct {
	node redis.UniversalClient
	ttl  time.Duration
}

// Acquire sends SETNX key 1 and, if that created the key, EXPIRE key ttl. An
// error leaves open whether the key was created and whether it has a TTL.
func (s *SetNXExpire) Acquire(ctx context.Context, key string) (Lease, error) {
	created, err := setnx(ctx, s.node, key, "1")
	switch {
	case err != nil:
		return nil, err
	case !created:
		return nil, ErrNotAcquired
	}
	// From here to the next reply the key is immortal.
	if err := s.node.Expire(ctx, key, s.ttl).Err(); err != nil {
		return nil, unknown("EXPIRE", key, err)
	}
	return &blindLease{s.node, key}, nil
}
