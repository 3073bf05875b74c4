package zookeeper

import (
	"context"
	"time"

	"locklab/algorithms/lock"
)

var herdQueue = naiveQueue.Variant("zk-herd", 2010,
	func(env lock.Env) lock.Lock { return &HerdQueue{env.ZooKeeper, env.Clock} })

var _ lock.Queuer = (*HerdQueue)(nil)

// HerdQueue watches the whole queue, and reads it again after every change. (2010: section 2.4
// of the USENIX paper on ZooKeeper describes the herd effect of locks without a queue, and the
// queue as the fix. This is the queue without the fix.)
//
// It was meant to fix [NaiveQueue]: a wake-up says that something has changed, and nothing more.
//
// How it fails: of n waiters that wake up at each release, n-1 do so without effect, and all of them do
// whenever a client joins. Its other failures are those of [CheckedQueue].
type HerdQueue struct {
	zk    lock.ZooKeeper
	clock lock.Clock
}

// Acquire implements [lock.Lock].
func (s *HerdQueue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [lock.Queuer]. After an error it is unknown whether a place was created.
func (s *HerdQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	return awaitTurn(ctx, s.zk, key, newDeadline(s.clock, patience), func(ctx context.Context, own *place, deadline *deadline) error {
		return own.awaitQueue(ctx, deadline, func(_ []string, i int) bool { return i == 0 })
	})
}
