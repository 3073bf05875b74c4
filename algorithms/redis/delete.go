package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Ways to delete the key on release. Each is a deleteFunc.

// delBlind sends DEL without checking the owner. Like the articles, it ignores the reply.
func delBlind(ctx context.Context, node redis.UniversalClient, key, _ string) error {
	if err := node.Del(ctx, key).Err(); err != nil {
		return lock.Unknown("DEL", key, err)
	}
	return nil
}

// getThenDel checks the owner with GET and then sends DEL. The key may change between the two commands, so its nil
// states nothing. It returns ErrNotHeld if the key is gone or holds another value.
func getThenDel(ctx context.Context, node redis.UniversalClient, key, value string) error {
	if err := checkValue(ctx, node, key, value); err != nil {
		return err
	}
	// The weak point: from here on the key may belong to another client.
	return delBlind(ctx, node, key, value)
}

// checkValue returns ErrNotHeld if the key is gone or holds another value.
func checkValue(ctx context.Context, node redis.UniversalClient, key, value string) error {
	found, exists, err := sendGET(ctx, node, key)
	switch {
	case err != nil:
		return err
	case !exists || found != value:
		return lock.ErrNotHeld
	}
	return nil
}

// compareAndDeleteScript deletes a key if it still holds the caller's token. The server runs a script without
// interruption, so no command comes between check and deletion. KEYS: lock. ARGV: token. Reply: number of keys deleted.
//
// Scripts are sent with EVAL, as the articles print them and as Redisson 3.12.5 does
// by default. EVALSHA would save bytes but adds a failure of its own: see evalSHA.
var compareAndDeleteScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call("DEL", KEYS[1])
`)

// compareAndDelete checks and deletes in one script. It returns ErrNotHeld if the key is gone or is another's.
func compareAndDelete(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return notHeldIfZero(compareAndDeleteScript.Eval(ctx, node, []string{key}, token), "compare and delete", key)
}
