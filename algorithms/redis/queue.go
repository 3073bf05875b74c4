package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// queue grants the lock in the order of the first attempts. (2016: Redisson's RFairLock.)
//
// It was meant to fix starvation: without a queue who tries most often wins, and a patient client may wait for ever.
//
// A refused Acquire puts the process into a list, and only the first in the list gets the lock. A waiter keeps its
// place by trying again within a TTL: its place has a key of its own with that TTL, and every attempt removes from the
// head of the list those whose key is gone.
//
// How it fails: as token does. And if the first waiter dies or gives up, it blocks the others for a TTL although the
// lock is free. An Acquire whose reply was lost keeps its place too.
//
// Where ours differs: the server measures the time in the queue; in Redisson the waiters' clocks do. The script makes
// the keys of the places from the members of the list: in a cluster, use a key with a hash tag.
var queue = tokenLock.Variant("queue", 2016,
	func(env lock.Env) lock.Lock {
		return newKeyLock(env, env.Tokens, inTurn{env.Tokens.Token()}, reporting(compareAndDelete))
	})

// inTurn creates the key when it is the turn of a process, which waiter names in all queues.
type inTurn struct{ waiter string }

// acquireInTurnScript takes a free lock if the caller is the first in the queue; otherwise the caller joins the queue.
// KEYS: lock, queue. ARGV: waiter, token, TTL in ms. Reply: 1 if taken, else 0.
var acquireInTurnScript = redis.NewScript(`
local place = KEYS[2] .. ":"
local known = redis.call("EXISTS", place .. ARGV[1], KEYS[2]) == 2
redis.call("SET", place .. ARGV[1], 1, "PX", ARGV[3])
if not known then
  redis.call("LREM", KEYS[2], 0, ARGV[1])
  redis.call("RPUSH", KEYS[2], ARGV[1])
end
while redis.call("EXISTS", place .. redis.call("LINDEX", KEYS[2], 0)) == 0 do
  redis.call("LPOP", KEYS[2])
end
if redis.call("LINDEX", KEYS[2], 0) ~= ARGV[1] or redis.call("EXISTS", KEYS[1]) == 1 then
  return 0
end
redis.call("LPOP", KEYS[2])
redis.call("DEL", place .. ARGV[1])
redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
return 1
`)

// create takes the lock, or joins the queue if it has to wait. After an error it is unknown which of the two happened.
func (q inTurn) create(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	keys := []string{key, key + ":queue"}
	taken, err := acquireInTurnScript.Eval(ctx, node, keys, q.waiter, token, ttl.Milliseconds()).Int()
	switch {
	case err != nil:
		return lock.Unknown("queue script", key, err)
	case taken == 0:
		return lock.ErrNotAcquired
	}
	return nil
}
