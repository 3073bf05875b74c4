package algorithms

import (
	"context"

	"github.com/redis/go-redis/v9"
)

var _ Strategy = (*SetNX)(nil)

var setNX = Entry{
	ID:      "setnx",
	Article: "003-A",
	Year:    2009,
	Title:   "SETNX and DEL, no expiry",
	Nodes:   1,
	Expiry:  ExpiryNone,
	New:     func(env Env) Strategy { return &SetNX{env.Nodes[0]} },
}

// SetNX is the first Redis lock: whoever creates the key holds the lock, and
// gives it back by deleting the key. (2009: SETNX is in the first commit of
// Redis, March 2009. Article 003-A; 001-A and 002-A write another constant.)
//
// It was meant to mend the mutex inside one process (003-0), which excludes
// nobody on the next machine. The server runs one command at a time, so of any
// number of SETNX on a free key exactly one is answered 1.
//
// How it falls: the key has no TTL. A holder that crashes before DEL locks
// everybody out for ever, and so does one that throws between the two commands
// without a finally. For the same reason it is the only strategy here that a
// pause cannot break: no clock ever gives the lock to somebody else. That trade
// is what all later strategies argue about. The constant value means that a DEL
// by anybody is a release, and a lost reply to SETNX leaves a key that its own
// creator takes for somebody else's.
//
// Our form is the article's, command for command. It ignores Env.TTL.
type SetNX struct {
	node redis.UniversalClient
}

// Acquire sends SETNX key 1. An error leaves open whether the key was created.
func (s *SetNX) Acquire(ctx context.Context, key string) (Lease, error) {
	created, err := setnx(ctx, s.node, key, "1")
	switch {
	case err != nil:
		return nil, err
	case !created:
		return nil, ErrNotAcquired
	}
	return &blindLease{s.node, key}, nil
}

// A blindLease is given back by DEL without a look at whose key it is. It is no
// Reporter: the article does not read the reply.
type blindLease struct {
	node redis.UniversalClient
	key  string
}

// Release deletes the key, whoever holds it.
func (l *blindLease) Release(ctx context.Context) error {
	if err := l.node.Del(ctx, l.key).Err(); err != nil {
		return unknown("DEL", l.key, err)
	}
	return nil
}
