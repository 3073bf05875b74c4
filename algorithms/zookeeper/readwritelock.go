package zookeeper

import (
	"context"
	"strings"
	"time"

	"locklab/algorithms/lock"
)

var (
	writeLock = protectedQueue.Variant("zk-write", 2011,
		func(env lock.Env) lock.Lock { return queuer{&ReadWriteLock{newCuratorQueue(env), false}} })
	readLock = writeLock.Variant("zk-read", 2011,
		func(env lock.Env) lock.Lock { return queuer{&ReadWriteLock{newCuratorQueue(env), true}} }).
		Changed(func(e *lock.Entry) { e.Holders, e.Writer = lock.AnyNumber, writeLock.New })
)

// ReadWriteLock lets readers in together, and a writer alone. A value is one side of the lock. Both sides share one
// queue, so that a stream of readers does not starve a writer. (2011: Curator's InterProcessReadWriteLock, of 0.6.4 in
// December, after the recipe "Shared Locks".) A writer waits for the place before it; a reader waits only for writers
// before it, and watches the first of them.
//
// It was meant to fix that a mutex keeps readers out which do not disturb each other.
//
// How it fails: as [ProtectedQueue] does. The writer's lease is a [lock.Fencer]; the reader's is
// not, since readers that are in together have no order.
//
// Ours is not reentrant. Curator's is, and its writer may also take the reader's side.
type ReadWriteLock struct {
	queue *ProtectedQueue
	read  bool
}

const (
	readName  = "read"
	writeName = "write"
)

// Await is that of a [lock.Queuer]. The errors are those of [ProtectedQueue].
func (s *ReadWriteLock) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	name, blocker := writeName, placeBefore
	if s.read {
		name, blocker = readName, firstWriter
	}
	own, err := s.queue.await(ctx, lockPath(key), name, newDeadline(s.queue.clock, patience), blocker)
	switch {
	case err != nil:
		return nil, err
	case s.read:
		return &placeLease{place: own}, nil
	}
	return own.fenced(ctx)
}

// firstWriter is the blocker of a reader.
func firstWriter(queue []string, i int) string {
	for _, name := range queue[:i] {
		if stem, _, _ := number(name); strings.HasSuffix(stem, writeName) {
			return name
		}
	}
	return ""
}
