package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks on the commands that article 002 wished for. No server before 2025 has
// them.

// delIfEq is token with Valkey's DELIFEQ in place of the script. (2025: Valkey 9.0,
// October.)
//
// It was meant to mend the script, which each client had to bring along. It falls
// as token does.
var delIfEq = tokenLock.Variant("delifeq", 2025,
	lock.Text{EN: "SET NX PX with a token, release by Valkey's DELIFEQ", ZH: "SET NX PX 加令牌，用 Valkey 的 DELIFEQ 释放"},
	func(env lock.Env) lock.Strategy {
		return newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: sendDelIfEq, reports: true})
	})

// delEx is token with DELEX … IFEQ of Redis. (2025: Redis 8.4, November.) It falls
// as token does.
var delEx = tokenLock.Variant("delex", 2025,
	lock.Text{EN: "SET NX PX with a token, release by DELEX IFEQ of Redis 8.4", ZH: "SET NX PX 加令牌，用 Redis 8.4 的 DELEX IFEQ 释放"},
	func(env lock.Env) lock.Strategy {
		return newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: sendDelEx, reports: true})
	})

// setIfEq is daemon-10-owned without a script: SET … IFEQ writes the same token
// again and by that resets the TTL, and DELEX removes it. (2025: SET IFEQ came
// with Valkey 8.1 in March, with Redis 8.4 in November.) It falls as
// daemon-10-owned does.
var setIfEq = daemon10Owned.Variant("set-ifeq", 2025,
	lock.Text{EN: "SET NX PX with a token, renewed by SET IFEQ, release by DELEX IFEQ", ZH: "SET NX PX 加令牌，用 SET IFEQ 续期，用 DELEX IFEQ 释放"},
	func(env lock.Env) lock.Strategy {
		k := each(env, 10, sendSetIfEq)
		k.owned = true
		return newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: sendDelEx, reports: true}).kept(k)
	})

func sendDelIfEq(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return changed("DELIFEQ", key, node.Do(ctx, "DELIFEQ", key, token))
}

func sendDelEx(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return changed("DELEX IFEQ", key, node.Do(ctx, "DELEX", key, "IFEQ", token))
}

func sendSetIfEq(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	return set(ctx, node, lock.ErrNotHeld, key, token, "IFEQ", token, "PX", ttl.Milliseconds())
}
