package zookeeper

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

// Waiting in a queue until it is a place's turn.

type awaiter interface {
	Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error)
}

// A queuer is a [lock.Queuer] whose attempts are waits without patience.
type queuer struct{ awaiter }

// Acquire implements [lock.Lock].
func (s queuer) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// placeName is the name of the places of a mutex, as in the recipe.
const placeName = "lock"

// A waiting lock joins the queue of a key, unprotected, and waits with wait until the place holds the lock. If
// that fails it leaves no place behind, unless the ensemble does not answer.
type waiting struct {
	zk    lock.ZooKeeper
	clock lock.Clock
	wait  func(context.Context, *place, *deadline) error
}

// waitingBy makes waiting locks.
func waitingBy(wait func(context.Context, *place, *deadline) error) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock { return queuer{&waiting{env.ZooKeeper, env.Clock, wait}} }
}

// Await is that of a [lock.Queuer]. After an error it is unknown whether a place was created.
func (s *waiting) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	deadline := newDeadline(s.clock, patience)
	own, err := join(ctx, s.zk, lockPath(key), "", placeName)
	if err != nil {
		return nil, err
	}
	if err := s.wait(ctx, own, deadline); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own.fenced(ctx)
}

// A blocker returns the place that blocks place i of the queue; "": none.
type blocker func(queue []string, i int) string

// placeBefore is the blocker of a mutex.
func placeBefore(queue []string, i int) string {
	if i == 0 {
		return ""
	}
	return queue[i-1]
}

// awaitUnblocked waits until no other place blocks this one. It watches only the place that
// does, and reads the queue again after each wake-up.
func (p *place) awaitUnblocked(ctx context.Context, deadline *deadline, blocker blocker) error {
	for {
		queue, i, err := p.readQueue(ctx)
		if err != nil {
			return err
		}
		before := blocker(queue, i)
		if before == "" {
			return nil
		}
		if err := deadline.check(); err != nil {
			return err
		}
		watch, err := p.watch(ctx, before)
		if errors.Is(err, lock.ErrNoNode) {
			continue // deleted since readQueue
		}
		if err != nil {
			return err
		}
		if err := deadline.await(ctx, watch); err != nil {
			return err
		}
	}
}

// awaitQueue watches the whole queue and waits until it is as ready says.
func (p *place) awaitQueue(ctx context.Context, deadline *deadline, ready func(queue []string, own int) bool) error {
	for {
		names, watch, err := p.zk.WatchChildren(ctx, p.parent)
		if err != nil {
			return lock.Unknown("children", p.parent, err)
		}
		queue, own, err := p.find(names)
		if err != nil || ready(queue, own) {
			return err
		}
		if err := deadline.check(); err != nil {
			return err
		}
		if err := deadline.await(ctx, watch); err != nil {
			return err
		}
	}
}
