package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks that draw a fencing token in the same step in which they take the lock.

// redissonFenced is Redisson's RFencedLock: watchdog whose acquire script also increments a counter beside the lock,
// and returns it. (2022: Redisson 3.19.0, December. Read in 4.7.0, RedissonFencedLock.) It leaves out the WAIT of each
// script, the retries of a renewal, and lockAndGetToken's waiting.
//
// It was meant to fix that a holder which lost its lock without noticing still writes: the resource refuses a token
// below the highest that it has seen. Unlike [lock.Fence] no pause fits between the lock and the token.
//
// How it fails: as redisson-rearm, if the resource does not check. The counter is as durable as the
// server: a failover that loses increments hands old tokens out again.
//
// The counter has no TTL and stays for ever. Every entry draws a token, also one by the holder.
var redissonFenced = watchdog.Variant("redisson-fenced", 2022,
	func(env lock.Env) lock.Lock {
		s := newWatchdog(env)
		s.rearms = true
		return &FencedLock{s}
	})

// FencedLock is the lock redisson-fenced.
type FencedLock struct{ *Watchdog }

// acquireFencedScript is acquireHashScript with a token. KEYS: lock, counter. ARGV: owner, TTL in
// ms. Reply: the token, or nil if another client has the lock.
var acquireFencedScript = redis.NewScript(`
local free = redis.call("EXISTS", KEYS[1]) == 0
if free or redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then
  local token = redis.call("INCR", KEYS[2])
  redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return token
end
return nil
`)

// Acquire is [Watchdog]'s. Redisson's script tells a refused client the rest of the TTL; ours has no use for it.
func (s *FencedLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	keys := []string{key, "redisson_lock_token:{" + key + "}"}
	token, err := s.eval(ctx, acquireFencedScript, keys, s.owner, s.ttl.Milliseconds()).Uint64()
	if err := acquired(err, key); err != nil {
		return nil, err
	}
	return &fencedWatchdogLease{s.hold(ctx, key), token}, nil
}

// acquired reads the error of a script that replies with nil to a client that is refused.
func acquired(err error, key string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.Nil):
		return lock.ErrNotAcquired
	}
	return lock.Unknown("acquire script", key, err)
}

var _ lock.Fencer = (*fencedWatchdogLease)(nil)

type fencedWatchdogLease struct {
	*watchdogLease
	token uint64
}

// FencingToken implements [lock.Fencer].
func (l *fencedWatchdogLease) FencingToken() uint64 { return l.token }

// redislockFence is bsm/redislock with Options.FenceKey. (2026: pull request 94, merged after v0.10.0 of May; the
// script is v0.10.0's, the token as the request says. v0.9.4, the latest that every proxy has, has no tokens.) It
// leaves out several keys, metadata, the caller's own token, and go-redis's retries, which --client-retries plays.
//
// It was meant to fix what token leaves open: the holder that lost its lock without noticing.
//
// How it fails: as token, if the resource does not check the token; and the counter is as durable as the server. The
// script takes a key that has the caller's own value for its own, so that go-redis may send it again.
var redislockFence = tokenLock.Variant("redislock-fence", 2026,
	func(env lock.Env) lock.Lock { return &Redislock{env.Nodes[0], env.Tokens, env.TTL} })

// Redislock is the lock redislock-fence.
type Redislock struct {
	node   redis.UniversalClient
	tokens lock.Tokens
	ttl    time.Duration
}

// obtainScript takes a free lock, or one that has the caller's own value. KEYS: lock, counter. ARGV:
// value, TTL in ms. Reply: the fencing token, or nil if another client has the lock.
var obtainScript = redis.NewScript(`
local token
if redis.call("SETNX", KEYS[1], ARGV[1]) == 1 then
  token = redis.call("INCR", KEYS[2])
elseif redis.call("GET", KEYS[1]) == ARGV[1] then
  token = tonumber(redis.call("GET", KEYS[2]))
else
  return nil
end
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return token
`)

// Acquire is Obtain, which makes one attempt unless its caller gives a RetryStrategy.
func (s *Redislock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &redislockLease{lock: s, key: key, value: s.tokens.Token()}
	var err error
	l.token, err = obtainScript.Run(ctx, s.node, []string{key, key + ":fence"}, l.value, s.ttl.Milliseconds()).Uint64()
	if err := acquired(err, key); err != nil {
		return nil, err
	}
	return l, nil
}

var (
	_ lock.Renewer = (*redislockLease)(nil)
	_ lock.Fencer  = (*redislockLease)(nil)
)

type redislockLease struct {
	reports
	lock       *Redislock
	key, value string
	token      uint64
}

// Release deletes the key if it has the lease's value, else it returns ErrNotHeld.
func (l *redislockLease) Release(ctx context.Context) error {
	return compareAndDeleteBySHAOrSource(ctx, l.lock.node, l.key, l.value)
}

// Renew is Refresh.
func (l *redislockLease) Renew(ctx context.Context) error {
	reply := compareAndExpireScript.Run(ctx, l.lock.node, []string{l.key}, l.value, l.lock.ttl.Milliseconds())
	return notHeldIfZero(reply, "refresh script", l.key)
}

// FencingToken implements [lock.Fencer].
func (l *redislockLease) FencingToken() uint64 { return l.token }
