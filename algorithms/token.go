package algorithms

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

var _ Strategy = (*TokenLock)(nil)

var tokenLock = Entry{
	ID:      "token",
	Article: "002-C",
	Year:    2013,
	Title:   "SET NX PX with a random token, compare-and-delete in Lua",
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  ExpiryServer,
	New:     func(env Env) Strategy { return &TokenLock{env.Nodes[0], env.Tokens, env.TTL} },
}

// TokenLock creates the key together with its TTL, in one command, and writes a
// value into it by which it recognises its own lock. (2013: the NX and PX of SET
// came with Redis 2.6.12 in March 2013; scripts are a little older. Article
// 002-C, which also prints EX 5.)
//
// It was meant to mend both falls of [SetNXExpire]: the gap between SETNX and
// EXPIRE, and the DEL that removes a successor's lock. And it needs no clock of
// the clients, as [GetSet] does: only the server's counts.
//
// How it falls: a holder that works or pauses for longer than the TTL does not
// learn that it lost the lock, and shares the critical section with its
// successor until it tries to release. The token saves the successor's key, not
// the resource. A failover to a replica that has not seen the key grants it
// twice. A lost reply to SET leaves a key that its creator does not know to be
// its own, until the TTL ends. And all of it rests on tokens that differ: the
// article draws a random integer, others wrote the thread id.
//
// Our form takes its token from Env.Tokens, a new one for each Acquire, and
// Env.TTL in whole milliseconds. It has no watchdog; see [Watchdog].
type TokenLock struct {
	node   redis.UniversalClient
	tokens Tokens
	ttl    time.Duration
}

// Acquire sends SET key token NX PX ttl. An error leaves open whether the key was
// created; if it was, it goes when its TTL ends.
func (s *TokenLock) Acquire(ctx context.Context, key string) (Lease, error) {
	token := s.tokens.Token()
	if err := setIfFree(ctx, s.node, key, token, s.ttl); err != nil {
		return nil, err
	}
	return &tokenLease{s.node, key, token}, nil
}

var _ Reporter = (*tokenLease)(nil)

type tokenLease struct {
	node       redis.UniversalClient
	key, token string
}

// Release deletes the key if it still holds this lease's token, and returns
// ErrNotHeld otherwise.
func (l *tokenLease) Release(ctx context.Context) error {
	return deleteIfMine(ctx, l.node, l.key, l.token)
}

// Reports implements [Reporter].
func (l *tokenLease) Reports() {}
