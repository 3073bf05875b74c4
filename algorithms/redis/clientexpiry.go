package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// clientExpiry is token with a lease that ends at a time which the client has computed:
// SET … PXAT. (2021: PXAT came with Redis 6.2 in February; rueidis offers such a lock.)
//
// It was meant to fix what a delayed SET does: with PX the delay lengthens the lease beyond what the client computes.
//
// How it fails: the client's and the server's clock have to agree. If the client's is a TTL or more behind, the server
// answers OK and stores no key: every client holds the lock.
var clientExpiry = tokenLock.Variant("client-expiry", 2021,
	func(env lock.Env) lock.Lock {
		return newKeyLock(env, env.Tokens, setNXPXAT{env.Clock}, reporting(compareAndDelete))
	})

// setNXPXAT sends SET key value NX PXAT end, with an end that is ttl from now by the clock.
type setNXPXAT struct{ clock lock.Clock }

func (s setNXPXAT) create(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	end := s.clock.Now().Add(ttl).UnixMilli()
	return sendSET(ctx, node, lock.ErrNotAcquired, key, token, "NX", "PXAT", end)
}
