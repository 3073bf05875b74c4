package zookeeper

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

var naiveQueue = lock.Entry{
	ID:      "zk-naive",
	Family:  lock.Line,
	Article: "003-E",
	Year:    2008,
	Server:  lock.OnZooKeeper(lockPath),
	Expiry:  lock.ExpirySession,
	New:     func(env lock.Env) lock.Lock { return &NaiveQueue{env.ZooKeeper, env.Clock} },
}

var _ lock.Queuer = (*NaiveQueue)(nil)

// NaiveQueue is the queue as article 003 describes it: each client watches the place before its
// own, and "once notified" it has the lock. (2008: ZooKeeper's first release, with ephemeral and
// sequential znodes. Article 003-E.)
//
// It was meant to give what a Redis lock cannot promise: no time-out has to exceed the unknown time
// of the work, because the lock lives as long as its holder's session; no client polls; and the lock is
// granted in the order of arrival.
//
// How it fails: the place before may disappear although its client never held the lock. That
// client was only waiting, and its session or its patience ended; the next client in the queue
// then enters although the holder is still inside. All failures of [CheckedQueue] come on top.
//
// Ours adds a fencing token: the lease carries the czxid of its place.
type NaiveQueue struct {
	zk    lock.ZooKeeper
	clock lock.Clock
}

// Acquire implements [lock.Lock].
func (s *NaiveQueue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [lock.Queuer]. After an error it is unknown whether a place was created.
func (s *NaiveQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	return awaitTurn(ctx, s.zk, key, newDeadline(s.clock, patience), awaitWakeUp)
}

// awaitWakeUp waits until the watch on the place before fires, and does not check again.
func awaitWakeUp(ctx context.Context, own *place, deadline *deadline) error {
	queue, i, err := own.readQueue(ctx)
	if err != nil || i == 0 {
		return err
	}
	if err := deadline.check(); err != nil {
		return err
	}
	watch, err := own.watch(ctx, queue[i-1])
	switch {
	case errors.Is(err, lock.ErrNoNode): // deleted since readQueue: the same as a wake-up
		return nil
	case err != nil:
		return err
	}
	return deadline.await(ctx, watch)
}
