package zookeeper

import (
	"context"
	"time"

	"locklab/algorithms/lock"
)

var (
	nonReentrantMutex = protectedQueue.Variant("zk-mutex", 2012,
		func(env lock.Env) lock.Lock { return queuer{NewSemaphore(env, 1)} }).
		Changed(func(e *lock.Entry) { e.Line = permitPath })
	semaphore = nonReentrantMutex.Variant("zk-semaphore", 2012,
		func(env lock.Env) lock.Lock { return queuer{NewSemaphore(env, 2)} }).
		Changed(func(e *lock.Entry) { e.Holders = 2 })
)

// Semaphore lets several holders in at a time, in the order of arrival. (2012: Curator's InterProcessSemaphoreV2, of
// 1.2.2 in September. With one permit it is Curator's mutex that is not reentrant, InterProcessSemaphoreMutex, which
// 1.1.16 had brought in August.) All clients of a key must agree on the number.
//
// A client that wants a permit first queues for a mutex. Only the holder of the mutex adds a
// znode to the permits in use, and waits until there are few enough.
//
// It was meant to fix Curator's first semaphore, a queue in which each place waited for the one
// so many places before it: now a returned permit wakes one client, and no client is overtaken.
//
// How it fails: as [ProtectedQueue] does. If a holder's session ends while it is paused there is one holder too many,
// and permits have no order by which a resource could refuse it: the lease is no [lock.Fencer].
type Semaphore struct {
	queue   *ProtectedQueue
	permits int
}

// NewSemaphore returns a Semaphore with this number of permits, but at least 1.
func NewSemaphore(env lock.Env, permits int) *Semaphore {
	return &Semaphore{newCuratorQueue(env), max(1, permits)}
}

// Await is that of a [lock.Queuer]. The errors are those of [ProtectedQueue].
func (s *Semaphore) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	deadline := newDeadline(s.queue.clock, patience)
	turn, err := s.queue.await(ctx, lockPath(key)+"/locks", placeName, deadline, placeBefore)
	if err != nil {
		return nil, err
	}
	permit, err := s.take(ctx, permitPath(key), deadline)
	if err = turn.leave(ctx, err); err != nil { // in any case it is the next client's turn
		if permit != nil {
			err = permit.leave(ctx, err)
		}
		return nil, err
	}
	return &placeLease{place: permit}, nil
}

// permitPath is the znode above the permits of key that are in use.
func permitPath(key string) string { return lockPath(key) + "/leases" }

// take adds a permit to those in use, and waits until there are few enough. Only one client at a time may call it.
func (s *Semaphore) take(ctx context.Context, parent string, deadline *deadline) (*place, error) {
	own, err := join(ctx, s.queue.zk, parent, s.queue.tokens.Token(), "lease")
	if err != nil {
		return nil, err
	}
	fewEnough := func(permits []string, _ int) bool { return len(permits) <= s.permits }
	if err := own.awaitQueue(ctx, deadline, fewEnough); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own, nil
}
