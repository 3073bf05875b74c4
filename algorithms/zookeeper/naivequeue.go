package zookeeper

import (
	"context"
	"errors"

	"locklab/algorithms/lock"
)

// naiveQueue is the queue as article 003 describes it: each client watches the place before its own, and "once
// notified" it has the lock. (2008: ZooKeeper's first release, with ephemeral and sequential znodes. Article 003-E.)
//
// It was meant to give what a Redis lock cannot promise: no time-out has to exceed the unknown time of the work,
// as the lock lives as long as its holder's session; no client polls; the lock is granted in the order of arrival.
//
// How it fails: the place before may disappear although its client never held the lock. That
// client was only waiting, and its session or its patience ended; the next client in the queue
// then enters although the holder is still inside. All failures of [checkedQueue] come on top.
//
// Ours adds a fencing token: the lease carries the czxid of its place.
var naiveQueue = lock.Entry{
	ID:      "zk-naive",
	Family:  lock.Line,
	Article: "003-E",
	Year:    2008,
	Server:  lock.OnZooKeeper(lockPath),
	Expiry:  lock.ExpirySession,
	New:     waitingBy(awaitWakeUp),
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
