package zookeeper

import (
	"context"
	"time"

	"locklab/algorithms/lock"
)

var reentrantMutex = protectedQueue.Variant("zk-reentrant", 2011,
	func(env lock.Env) lock.Lock {
		return queuer{&InterProcessMutex{newCuratorQueue(env), map[string]*processHold{}}}
	}).
	InArticle("003-F")

// InterProcessMutex is a [ProtectedQueue] that its holder may enter again. (2011: Curator's lock
// of this name; Netflix published Curator that autumn. Article 003-F.) The process counts its
// holds: a further Acquire sends nothing, and the last Release gives the place up.
//
// It was meant to fix that code which needs the lock cannot be called by code that holds it.
//
// How it fails: as ProtectedQueue does. Besides, a process that enters again after its session
// has ended is let in by its own count, however long ago the session ended.
//
// Ours counts by Lock value, Curator's by thread. Its lease is no [lock.Reporter], since the
// Release of an inner hold does not check the place.
type InterProcessMutex struct {
	queue *ProtectedQueue
	held  map[string]*processHold // by key
}

// A processHold is the place of a process that holds the lock count times.
type processHold struct {
	lease lock.Lease
	count int
}

// Await is that of a [lock.Queuer]. The errors are those of [ProtectedQueue].
func (s *InterProcessMutex) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	hold := s.held[key]
	if hold == nil {
		lease, err := s.queue.Await(ctx, key, patience)
		if err != nil {
			return nil, err
		}
		hold = &processHold{lease: lease}
		s.held[key] = hold
	}
	hold.count++
	return &processLease{lock: s, key: key, hold: hold}, nil
}

var (
	_ lock.Fencer  = (*processLease)(nil)
	_ lock.Checker = (*processLease)(nil)
)

// A processLease is one of the holds of a process.
type processLease struct {
	lock  *InterProcessMutex
	key   string
	hold  *processHold
	ended bool
}

// Release gives this hold back, and with the last one the place. Afterwards the process no
// longer holds the lock, whatever the ensemble answers.
func (l *processLease) Release(ctx context.Context) error {
	if l.ended {
		return lock.ErrNotHeld
	}
	l.ended = true
	l.hold.count--
	if l.hold.count > 0 {
		return nil
	}
	delete(l.lock.held, l.key)
	return l.hold.lease.Release(ctx)
}

// Check returns ErrNotHeld if the place is gone. It asks the ensemble.
func (l *processLease) Check(ctx context.Context) error {
	if l.ended {
		return lock.ErrNotHeld
	}
	return l.hold.lease.(lock.Checker).Check(ctx)
}

// FencingToken is that of the place: nested holds of one process share it.
func (l *processLease) FencingToken() uint64 { return l.hold.lease.(lock.Fencer).FencingToken() }
