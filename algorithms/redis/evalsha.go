package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks that call their script by its digest, which saves sending the source each
// time. What the server has cached it forgets when it restarts, and a replica that
// is promoted never knew it: then it answers NOSCRIPT.

// evalSHA is token that hands in its script once and calls it by digest from then
// on. (2015: redlock-rb, until its issue 27 of November.)
//
// It was meant to mend the source that goes out with each release.
//
// How it falls: as token does; and after a restart or a failover each release is
// refused, of a lock that is its own, so that the others wait for its TTL every
// time, until the process is started anew.
//
// Our form hands the script in before the process's first SET.
var evalSHA = lock.Entry{
	ID:     "evalsha",
	Family: lock.OneStep,
	Year:   2015,
	Title:  lock.Text{EN: "SET NX PX with a token, release by EVALSHA of a script loaded once", ZH: "SET NX PX 加令牌，脚本只加载一次，用 EVALSHA 释放"},
	Nodes:  1,
	TTL:    tokenLock.TTL,
	Unit:   tokenLock.Unit,
	Expiry: tokenLock.Expiry,
	New: func(env lock.Env) lock.Strategy {
		loaded := false
		take := func(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
			if !loaded {
				if err := compareAndDelete.Load(ctx, node).Err(); err != nil {
					return lock.Unknown("SCRIPT LOAD", key, err)
				}
				loaded = true
			}
			return setIfFree(ctx, node, key, token, ttl)
		}
		return newKeyLock(env, env.Tokens.Token, take, giving{send: deleteIfMineBySHA, reports: true})
	},
}

// evalSHAOrEval is evalsha that sends the source when the server does not know the
// digest. (2015: as redlock-rb then mended it; Script.Run of go-redis.)
//
// It was meant to mend NOSCRIPT. It falls as token does.
var evalSHAOrEval = lock.Entry{
	ID:     "evalsha-eval",
	Family: lock.OneStep,
	Year:   2015,
	Title:  lock.Text{EN: "SET NX PX with a token, release by EVALSHA, or EVAL on NOSCRIPT", ZH: "SET NX PX 加令牌，用 EVALSHA 释放，遇到 NOSCRIPT 改用 EVAL"},
	Nodes:  1,
	TTL:    tokenLock.TTL,
	Unit:   tokenLock.Unit,
	Expiry: tokenLock.Expiry,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: deleteIfMineByRun, reports: true})
	},
}

// deleteIfMineBySHA is deleteIfMine, but the server has to know the script. Its
// NOSCRIPT leaves the key alone.
func deleteIfMineBySHA(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return changed("compare and delete", key, compareAndDelete.EvalSha(ctx, node, []string{key}, token))
}

// deleteIfMineByRun is deleteIfMine by digest, and by source if need be.
func deleteIfMineByRun(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return changed("compare and delete", key, compareAndDelete.Run(ctx, node, []string{key}, token))
}
