package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var queue = lock.Entry{
	ID:     "queue",
	Family: lock.OneStep,
	Year:   2016,
	Title:  lock.Text{EN: "a fair lock on Redis: a queue of waiters in Lua", ZH: "Redis 公平锁：用 Lua 让等待者排队"},
	Nodes:  1,
	TTL:    30 * time.Second,
	Unit:   time.Millisecond,
	Expiry: lock.ExpiryServer,
	New:    func(env lock.Env) lock.Strategy { return &Queue{env, env.Tokens.Token()} },
}

var _ lock.Strategy = (*Queue)(nil)

// Queue grants the lock in the order in which it was asked for. (2016: Redisson's
// RFairLock.)
//
// It was meant to mend that whoever asks most often wins, and a patient waiter may
// wait for ever.
//
// A refused Acquire leaves the process in a list, and only the first in the list
// gets the lock. A waiter keeps its place by asking again within a TTL: its place
// has a key of its own with that lease, and the next who asks removes from the head
// of the list those whose key is gone.
//
// How it falls: as token does. And a waiter that died, or gave up, while it was the
// first blocks the others for a TTL, although nobody holds. An Acquire whose reply
// was lost keeps its place too. Time in the queue is counted by the server, unlike
// in Redisson, whose waiters bring their own clocks.
//
// The keys of the places are made up in the script, of the list's members: with a
// cluster, give a key with a hash tag.
type Queue struct {
	env    lock.Env
	waiter string // this process, in all queues
}

// acquireInTurn takes a free lock if the caller is the first in the queue, and
// joins it otherwise. KEYS: lock, queue. ARGV: waiter, token, TTL in ms. Reply: 1
// when taken, else 0.
var acquireInTurn = redis.NewScript(`
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

// Acquire asks for the lock, and joins the queue if it has to wait. An error leaves
// open which of the two happened.
func (s *Queue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	node, token := s.env.Nodes[0], s.env.Tokens.Token()
	keys := []string{key, key + ":queue"}
	taken, err := acquireInTurn.Eval(ctx, node, keys, s.waiter, token, s.env.TTL.Milliseconds()).Int()
	switch {
	case err != nil:
		return nil, lock.Unknown("queue script", key, err)
	case taken == 0:
		return nil, lock.ErrNotAcquired
	}
	return &queueLease{node: node, key: key, token: token}, nil
}

var _ lock.Reporter = (*queueLease)(nil)

type queueLease struct {
	reports
	node       redis.UniversalClient
	key, token string
}

// Release deletes the key if it still holds this lease's token, and returns
// ErrNotHeld otherwise.
func (l *queueLease) Release(ctx context.Context) error {
	return deleteIfMine(ctx, l.node, l.key, l.token)
}
