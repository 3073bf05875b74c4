package zookeeper

import (
	"context"
	"errors"
	"slices"
	"time"

	"locklab/algorithms/lock"
)

var multiLock = protectedQueue.Variant("zk-multi", 2011,
	func(env lock.Env) lock.Lock { return queuer{NewMultiLock(newCuratorQueue(env), "1", "2")} }).
	Changed(func(e *lock.Entry) { e.Line = func(key string) string { return lockPath(key + "/1") } })

// MultiLock is several locks that are taken as one: all or none. (2011: Curator's InterProcessMultiLock.) It takes them
// in the given order. If one fails it releases those that it has. Release releases all of them, the last one first.
//
// It was meant to fix that a client keeps some of the locks it needs while it fails to get the others.
//
// How it fails: as each of them does. Two clients that name the locks in opposite order wait for each other until one
// runs out of patience. And it does not notice if one is lost while it waits for others: they are not all held at once.
type MultiLock struct {
	part  awaiter
	names []string
}

// NewMultiLock returns a MultiLock that takes part, the lock of key/name, for each of names.
// Without names it takes nothing and always succeeds.
func NewMultiLock(part awaiter, names ...string) *MultiLock { return &MultiLock{part, names} }

// Await is that of a [lock.Queuer]. As in Curator, each lock gets the whole patience. After an
// error other than ErrNotAcquired it is unknown what is still held.
func (s *MultiLock) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	l := &multiLease{}
	for _, name := range s.names {
		lease, err := s.part.Await(ctx, key+"/"+name, patience)
		if err != nil {
			back := l.giveBack(context.WithoutCancel(ctx))
			if back != nil && errors.Is(err, lock.ErrNotAcquired) { // refused, but something may still be held
				return nil, back
			}
			return nil, errors.Join(err, back)
		}
		l.leases = append(l.leases, lease)
	}
	if !slices.ContainsFunc(l.leases, func(l lock.Lease) bool { _, ok := l.(lock.Reporter); return !ok }) {
		return &reportingMultiLease{multiLease: *l}, nil
	}
	return l, nil
}

type multiLease struct{ leases []lock.Lease }

// Release releases every lock, the last one first, and continues after errors. It returns their
// errors, joined: ErrNotHeld is among them if a lock was lost.
func (l *multiLease) Release(ctx context.Context) error {
	var errs []error
	for _, lease := range slices.Backward(l.leases) {
		errs = append(errs, lease.Release(ctx))
	}
	return errors.Join(errs...)
}

// giveBack is a Release that counts a lost lock as released.
func (l *multiLease) giveBack(ctx context.Context) error {
	var errs []error
	for _, lease := range slices.Backward(l.leases) {
		if err := lease.Release(ctx); !errors.Is(err, lock.ErrNotHeld) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// A reportingMultiLease is a multiLease of Reporters only.
type reportingMultiLease struct {
	multiLease
	lock.Reporting
}
