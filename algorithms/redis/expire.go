package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Ways to reset the TTL of the key. Each is an expireFunc.

// expireBlind sends EXPIRE, or PEXPIRE if ttl is not in whole seconds, without checking owner or reply.
func expireBlind(ctx context.Context, node redis.UniversalClient, key, _ string, ttl time.Duration) error {
	expire := node.Expire
	if ttl%time.Second != 0 {
		expire = node.PExpire
	}
	if err := expire(ctx, key, ttl).Err(); err != nil {
		return lock.Unknown("EXPIRE", key, err)
	}
	return nil
}

// compareAndExpireScript resets the TTL of a key that still holds the caller's token.
// KEYS: lock. ARGV: token, TTL in ms. Reply: 1, or 0 if the key does not hold it.
var compareAndExpireScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
`)

// compareAndExpire checks the owner and resets the TTL in a script. ErrNotHeld says that the key is gone or another's.
func compareAndExpire(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	reply := compareAndExpireScript.Eval(ctx, node, []string{key}, token, ttl.Milliseconds())
	return notHeldIfZero(reply, "compare and expire", key)
}
