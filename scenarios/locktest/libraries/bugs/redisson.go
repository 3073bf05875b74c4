package bugs

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// lockScript is Redisson's: a hash with the name of the holder and how often it has the lock. It returns nil to the
// holder, and to others the time that the lock has to live.
var lockScript = redis.NewScript(`
if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[2]) == 1 then
	redis.call("hincrby", KEYS[1], ARGV[2], 1)
	redis.call("pexpire", KEYS[1], ARGV[1])
	return nil
end
return redis.call("pttl", KEYS[1])`)

// unlockScript is Redisson's: it returns nil to one that does not have the lock, 0 to one that had it more than once,
// and 1 to one that has released it. The message to those who wait is left out.
var unlockScript = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call("hincrby", KEYS[1], ARGV[2], -1) > 0 then
	redis.call("pexpire", KEYS[1], ARGV[1])
	return 0
end
redis.call("del", KEYS[1])
return 1`)

// renewScript is Redisson's: it prolongs the lock of its holder.
var renewScript = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[2]) == 1 then
	redis.call("pexpire", KEYS[1], ARGV[1])
	return 1
end
return 0`)

// acquired makes the answer of lockScript an answer of Acquire.
func acquired(answer *redis.Cmd) (bool, error) {
	if err := answer.Err(); !errors.Is(err, redis.Nil) {
		return false, err
	}
	return true, nil
}

// unlocked makes the answer of unlockScript an answer of Release: where Redisson throws an
// IllegalMonitorStateException the caller did not have the lock.
func unlocked(answer *redis.Cmd) (bool, error) {
	if err := answer.Err(); errors.Is(err, redis.Nil) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// unlock executes unlockScript once.
func unlock(ctx context.Context, rdb *redis.Client, key, name string, lease int64) (bool, error) {
	return unlocked(unlockScript.Eval(ctx, rdb, []string{key}, lease, name))
}
