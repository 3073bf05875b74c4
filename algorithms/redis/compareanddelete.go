package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks on the compare-and-delete commands that article 002 wished for. Servers have them since 2025.

// delIfEq is token with Valkey's DELIFEQ instead of the script. (2025: Valkey 9.0, October.)
//
// It was meant to make the script unnecessary, which every client had to bring along. It fails as token does.
var delIfEq = tokenLock.Variant("delifeq", 2025, withToken(setNXPX, reporting(sendDELIFEQ)))

// delEx is token with DELEX … IFEQ of Redis instead of the script. (2025: Redis 8.4, November.) It fails as token does.
var delEx = tokenLock.Variant("delex", 2025, withToken(setNXPX, reporting(sendDELEX)))

// setIfEq is daemon-10-owned without scripts, and fails like it: SET … IFEQ writes the token again and so resets the
// TTL; DELEX deletes the key. (2025: SET IFEQ came with Valkey 8.1 in March, Redis 8.4 in November.)
var setIfEq = daemon10Owned.Variant("set-ifeq", 2025,
	renewedByOwner(reporting(sendDELEX), func(env lock.Env) renewalPlan { return renewEvery(env, 10, sendSETIFEQ) }))

func sendDELIFEQ(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return notHeldIfZero(node.Do(ctx, "DELIFEQ", key, token), "DELIFEQ", key)
}

func sendDELEX(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return notHeldIfZero(node.Do(ctx, "DELEX", key, "IFEQ", token), "DELEX IFEQ", key)
}

func sendSETIFEQ(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	return sendSET(ctx, node, lock.ErrNotHeld, key, token, "IFEQ", token, "PX", ttl.Milliseconds())
}
