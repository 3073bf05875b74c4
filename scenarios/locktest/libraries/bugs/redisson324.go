package bugs

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redisson324 is tryLock and unlock of Redisson's RLock.
//
//	Old    3.24.0
//	Fixed  3.24.1 of 18 October 2023: "'attempt to unlock lock, not locked by current thread' error occurs in rare cases
//	       even if RLock.unlock() method called by lock owner thread"
//	https://github.com/redisson/redisson/issues/4871
//
// Redisson sends a request again whose answer does not come. An unlock that had been executed found no lock the second
// time, and its caller, who had held the lock to the end, was told by an IllegalMonitorStateException that it had not.
// The repair gives each unlock a number, under which the script leaves its answer for its repetitions.
//
// The port repeats an unlock once, and a lock never. It leaves the watchdog and those who wait out.
type Redisson324 struct {
	rdb       *redis.Client
	key, name string
	lease     int64 // in ms
	version   Version
}

// NewRedisson324 returns a lock on key. Beside it the Fixed version writes a key that begins with
// "redisson_unlock_latch".
func NewRedisson324(v Version, rdb *redis.Client, key string, ttl time.Duration) *Redisson324 {
	return &Redisson324{rdb: rdb, key: key, name: newToken(), lease: ttl.Milliseconds(), version: v}
}

// Acquire asks once.
func (l *Redisson324) Acquire(ctx context.Context) (bool, error) {
	return acquired(lockScript.Eval(ctx, l.rdb, []string{l.key}, l.lease, l.name))
}

// latchedUnlock is unlockScript with an answer for repetitions, KEYS[2].
var latchedUnlock = redis.NewScript(`local before = redis.call("get", KEYS[2])
if before ~= false then return tonumber(before) end
if redis.call("hexists", KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call("hincrby", KEYS[1], ARGV[2], -1) > 0 then
	redis.call("pexpire", KEYS[1], ARGV[1])
	redis.call("set", KEYS[2], 0, "px", ARGV[3])
	return 0
end
redis.call("del", KEYS[1])
redis.call("set", KEYS[2], 1, "px", ARGV[3])
return 1`)

// Release gives the lock back.
func (l *Redisson324) Release(ctx context.Context) (bool, error) {
	if l.version == Old {
		return resend(func() (bool, error) { return unlock(ctx, l.rdb, l.key, l.name, l.lease) })
	}
	latch := "redisson_unlock_latch:{" + l.key + "}:" + newToken()
	held, err := resend(func() (bool, error) {
		return unlocked(latchedUnlock.Eval(ctx, l.rdb, []string{l.key, latch}, l.lease, l.name, l.lease))
	})
	if err == nil {
		l.rdb.Del(ctx, latch)
	}
	return held, err
}
