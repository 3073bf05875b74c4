package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks that call their script by its digest, which saves sending the source each time. The server's script cache is
// lost when it restarts, and a promoted replica may never have had the script: the server then answers NOSCRIPT.

// evalSHA is token that loads its script once, then calls it by digest. (2015: redlock-rb, until issue 27 of November.)
//
// It was meant to avoid sending the source with each release.
//
// How it fails: as token does. And after a restart or a failover every release is refused, although the lock is the
// caller's own, so that each time the others wait for the TTL to end, until the process is restarted.
//
// Ours loads the script before the first SET of the process.
var evalSHA = tokenLock.Variant("evalsha", 2015,
	func(env lock.Env) lock.Lock {
		return newKeyLock(env, env.Tokens, &loadThenSet{}, reporting(compareAndDeleteBySHA))
	})

// loadThenSet loads the script of the release before the first SET of a process.
type loadThenSet struct{ loaded bool }

func (l *loadThenSet) create(ctx context.Context, node redis.UniversalClient,
	key, token string, ttl time.Duration) error {
	if !l.loaded {
		if err := compareAndDeleteScript.Load(ctx, node).Err(); err != nil {
			return lock.Unknown("SCRIPT LOAD", key, err)
		}
		l.loaded = true
	}
	return setNXPX(ctx, node, key, token, ttl)
}

// evalSHAOrEval is evalsha that sends the source if the server does not know the digest.
// (2015: the fix in redlock-rb; Script.Run of go-redis does the same.)
//
// It was meant to fix NOSCRIPT. It fails as token does.
var evalSHAOrEval = tokenLock.Variant("evalsha-eval", 2015,
	withToken(setNXPX, reporting(compareAndDeleteBySHAOrSource)))

// compareAndDeleteBySHA is compareAndDelete, but the server has to know the script. With NOSCRIPT nothing is deleted.
func compareAndDeleteBySHA(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return notHeldIfZero(compareAndDeleteScript.EvalSha(ctx, node, []string{key}, token), "compare and delete", key)
}

// compareAndDeleteBySHAOrSource is compareAndDelete by digest, and by source after NOSCRIPT.
func compareAndDeleteBySHAOrSource(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return notHeldIfZero(compareAndDeleteScript.Run(ctx, node, []string{key}, token), "compare and delete", key)
}
