package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// clientExpiry is token whose lease ends at a time that the client has computed:
// SET … PXAT. (2021: PXAT came with Redis 6.2 in February; rueidis offers such a
// lock.)
//
// It was meant to mend the delay of a SET that is long under way, which with PX
// lengthens the lease beyond what its client counts.
//
// How it falls: two clocks have to agree, the client's and the server's. With a
// client that is behind by a TTL or more the server answers OK and keeps no key:
// everybody holds the lock.
var clientExpiry = lock.Entry{
	ID:     "client-expiry",
	Family: lock.OneStep,
	Year:   2021,
	Title:  lock.Text{EN: "SET NX PXAT: the client's clock says when the lease ends", ZH: "SET NX PXAT：租约何时结束由客户端的时钟决定"},
	Nodes:  1,
	TTL:    30 * time.Second,
	Unit:   time.Millisecond,
	Expiry: lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		until := func(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
			end := env.Clock.Now().Add(ttl).UnixMilli()
			return set(ctx, node, lock.ErrNotAcquired, key, token, "NX", "PXAT", end)
		}
		return newKeyLock(env, env.Tokens.Token, until, mine)
	},
}
