package zookeeper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"locklab/algorithms/lock"
)

// The family that article 003 names: Curator's locks.

var (
	_ lock.Queuer = (*InterProcessMutex)(nil)
	_ lock.Queuer = (*Semaphore)(nil)
	_ lock.Queuer = (*ReadWriteLock)(nil)
	_ lock.Queuer = (*MultiLock)(nil)
)

var (
	reentrantMutex = lock.Entry{
		ID:      "zk-reentrant",
		Family:  lock.Line,
		Article: "003-F",
		Year:    2011,
		Title:   lock.Text{EN: "Curator's InterProcessMutex: a protected queue, reentrant", ZH: "Curator 的 InterProcessMutex：带 GUID 保护的排队锁，可重入"},
		Expiry:  lock.ExpirySession,
		Line:    lockPath,
		New:     func(env lock.Env) lock.Strategy { return newInterProcessMutex(env) },
	}
	nonReentrantMutex = lock.Entry{
		ID:     "zk-mutex",
		Family: lock.Line,
		Year:   2012,
		Title:  lock.Text{EN: "Curator's InterProcessSemaphoreMutex: a semaphore of one, not reentrant", ZH: "Curator 的 InterProcessSemaphoreMutex：一个许可的信号量，不可重入"},
		Expiry: lock.ExpirySession,
		Line:   permitPath,
		New:    func(env lock.Env) lock.Strategy { return NewSemaphore(env, 1) },
	}
	semaphore = lock.Entry{
		ID:      "zk-semaphore",
		Family:  lock.Line,
		Year:    2012,
		Title:   lock.Text{EN: "Curator's InterProcessSemaphoreV2, with two permits", ZH: "Curator 的 InterProcessSemaphoreV2：两个许可的信号量"},
		Expiry:  lock.ExpirySession,
		Line:    permitPath,
		Holders: 2,
		New:     func(env lock.Env) lock.Strategy { return NewSemaphore(env, 2) },
	}
	writeLock = lock.Entry{
		ID:     "zk-write",
		Family: lock.Line,
		Year:   2011,
		Title:  lock.Text{EN: "Curator's InterProcessReadWriteLock: the writer's side", ZH: "Curator 的 InterProcessReadWriteLock：写锁"},
		Expiry: lock.ExpirySession,
		Line:   lockPath,
		New:    func(env lock.Env) lock.Strategy { return &ReadWriteLock{env.ZooKeeper, env.Clock, env.Tokens, false} },
	}
	readLock = lock.Entry{
		ID:      "zk-read",
		Family:  lock.Line,
		Year:    2011,
		Title:   lock.Text{EN: "Curator's InterProcessReadWriteLock: the reader's side", ZH: "Curator 的 InterProcessReadWriteLock：读锁"},
		Expiry:  lock.ExpirySession,
		Line:    lockPath,
		Holders: lock.AnyNumber,
		New:     func(env lock.Env) lock.Strategy { return &ReadWriteLock{env.ZooKeeper, env.Clock, env.Tokens, true} },
	}
	multiLock = lock.Entry{
		ID:     "zk-multi",
		Family: lock.Line,
		Year:   2011,
		Title:  lock.Text{EN: "Curator's InterProcessMultiLock: two locks, all or none", ZH: "Curator 的 InterProcessMultiLock：两把锁，要么全拿到，要么都不要"},
		Expiry: lock.ExpirySession,
		Line:   func(key string) string { return lockPath(key + "/1") },
		New:    func(env lock.Env) lock.Strategy { return &MultiLock{newProtected(env), []string{"1", "2"}} },
	}
)

func newProtected(env lock.Env) *ProtectedQueue {
	return &ProtectedQueue{env.ZooKeeper, env.Clock, env.Tokens}
}

// InterProcessMutex is a [ProtectedQueue] that its holder may enter again. (2011:
// Curator's lock of this name; Netflix made Curator public that autumn.)
// Who holds is counted in the process: a further hold asks nobody, and the last
// Release gives the place up.
//
// How it falls: as ProtectedQueue does. Besides, whoever enters again after its
// session has ended is let in by its own count, however long ago that was.
//
// Our form counts by Strategy value, where Curator counts by thread. Its lease is
// no [Reporter], since the Release of an inner hold does not look.
type InterProcessMutex struct {
	queue *ProtectedQueue
	held  map[string]*processHold // by key
}

func newInterProcessMutex(env lock.Env) *InterProcessMutex {
	return &InterProcessMutex{newProtected(env), map[string]*processHold{}}
}

// A processHold is the place of a process that holds the lock so many times.
type processHold struct {
	lease lock.Lease
	count int
}

// Acquire implements [Strategy].
func (s *InterProcessMutex) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. The errors are those of [ProtectedQueue].
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

// Release gives this hold back, and with the last one the place. That is over for
// the process whatever the ensemble answers.
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

// FencingToken is that of the place: all holds of one process in a row share it.
func (l *processLease) FencingToken() uint64 { return l.hold.lease.(lock.Fencer).FencingToken() }

// Semaphore lets a number of holders in at a time, in the order in which they
// came. (2012: Curator's InterProcessSemaphoreV2, of 1.2.2 in September. With one
// permit it is its mutex that is not reentrant, InterProcessSemaphoreMutex, which
// 1.1.16 had brought in August.) All clients of a key must agree on the number.
//
// Whoever wants a permit queues for a mutex first. Its holder alone adds a znode
// to the permits that are out, and waits until they are few enough; so one
// client is woken by a permit that comes back, and nobody is overtaken. Both was
// not so in Curator's first semaphore, a queue in which each waited for the one
// so many places before it.
//
// How it falls: as [ProtectedQueue] does. A holder whose session ends while it is
// paused is one too many, and permits have no order by which a resource could
// refuse it: the lease is no [Fencer].
type Semaphore struct {
	queue   *ProtectedQueue
	permits int
}

// NewSemaphore is a Semaphore with so many permits, at least 1.
func NewSemaphore(env lock.Env, permits int) *Semaphore {
	return &Semaphore{newProtected(env), max(1, permits)}
}

// Acquire implements [Strategy].
func (s *Semaphore) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. The errors are those of [ProtectedQueue].
func (s *Semaphore) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	wait := newWait(s.queue.clock, patience)
	turn, err := s.queue.await(ctx, lockPath(key)+"/locks", wait)
	if err != nil {
		return nil, err
	}
	permit, err := s.take(ctx, permitPath(key), wait)
	if err = turn.leave(ctx, err); err != nil { // whatever came of it, it is the next one's turn
		if permit != nil {
			err = permit.leave(ctx, err)
		}
		return nil, err
	}
	return &placeLease{permit}, nil
}

// permitPath is the znode below which the permits of key are that are out.
func permitPath(key string) string { return lockPath(key) + "/leases" }

// take adds a permit to those that are out, and waits until they are few enough.
// Only one client at a time may do so.
func (s *Semaphore) take(ctx context.Context, parent string, wait *wait) (*place, error) {
	own, err := join(ctx, s.queue.zk, parent, s.queue.tokens.Token(), "lease")
	if err != nil {
		return nil, err
	}
	if err := s.few(ctx, own, wait); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own, nil
}

// few waits until no more permits are out than there are.
func (s *Semaphore) few(ctx context.Context, own *place, wait *wait) error {
	for {
		names, watch, err := s.queue.zk.WatchChildren(ctx, own.parent)
		if err != nil {
			return lock.Unknown("children", own.parent, err)
		}
		switch out, _, err := own.find(names); {
		case err != nil || len(out) <= s.permits:
			return err
		case wait.over() != nil:
			return wait.over()
		}
		if err := wait.on(ctx, watch); err != nil {
			return err
		}
	}
}

// ReadWriteLock lets readers in together, and a writer alone; it is one side of
// the lock, and both sides queue in one line, so that no stream of readers
// starves a writer. (2011: Curator's InterProcessReadWriteLock, of 0.6.4 in
// December, after the recipe "Shared Locks".) A writer waits for the one before it; a reader only for
// writers before it, and watches the first of them.
//
// How it falls: as [ProtectedQueue] does. The writer's lease is a [Fencer]; the
// reader's is not, as readers that are in together have no order.
//
// Our form is not reentrant, where Curator's is, and where its writer may read.
type ReadWriteLock struct {
	zk     lock.ZooKeeper
	clock  lock.Clock
	tokens lock.Tokens
	read   bool
}

const (
	readName  = "read"
	writeName = "write"
)

// Acquire implements [Strategy].
func (s *ReadWriteLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. The errors are those of [ProtectedQueue].
func (s *ReadWriteLock) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	name, rule := writeName, oneBefore
	if s.read {
		name, rule = readName, firstWriter
	}
	own, err := queueUp(ctx, s.zk, lockPath(key), s.tokens.Token(), name, newWait(s.clock, patience), rule)
	switch {
	case err != nil:
		return nil, err
	case s.read:
		return &placeLease{own}, nil
	}
	return own.fenced(ctx)
}

// firstWriter is the rule of a reader.
func firstWriter(queue []string, i int) string {
	for _, name := range queue[:i] {
		if stem, _, _ := number(name); strings.HasSuffix(stem, writeName) {
			return name
		}
	}
	return ""
}

// MultiLock is several locks that are taken as one: all or none. (2011: Curator's
// InterProcessMultiLock.) It takes them in the given order, gives those back that
// it has when one fails, and on Release gives all of them back, the last one
// first.
//
// How it falls: as each of them does. Two that name the same locks in opposite
// order wait for each other until one loses patience. And all of them are held at
// once only if each is: a lock that was lost while the others were waited for is
// not noticed.
type MultiLock struct {
	lock  lock.Queuer
	parts []string
}

// NewMultiLock takes lock for key/part, for each part in turn. With no part it
// takes nothing, and always succeeds.
func NewMultiLock(held lock.Queuer, parts ...string) *MultiLock { return &MultiLock{held, parts} }

// Acquire implements [Strategy].
func (s *MultiLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. As in Curator each lock is given the whole of
// patience. An error that is no refusal leaves open what is still held.
func (s *MultiLock) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	l := &multiLease{}
	for _, part := range s.parts {
		lease, err := s.lock.Await(ctx, key+"/"+part, patience)
		if err != nil {
			back := l.giveBack(context.WithoutCancel(ctx))
			if back != nil && errors.Is(err, lock.ErrNotAcquired) { // so it was, but something may still be held
				return nil, back
			}
			return nil, errors.Join(err, back)
		}
		l.leases = append(l.leases, lease)
	}
	if !slices.ContainsFunc(l.leases, func(l lock.Lease) bool { _, ok := l.(lock.Reporter); return !ok }) {
		return &reportingMultiLease{*l}, nil
	}
	return l, nil
}

var _ lock.Reporter = (*reportingMultiLease)(nil)

type multiLease struct{ leases []lock.Lease }

// Release gives every lock back, the last one first, whatever becomes of the
// others, and returns their errors, joined: ErrNotHeld among them if one was lost.
func (l *multiLease) Release(ctx context.Context) error {
	var errs []error
	for _, lease := range slices.Backward(l.leases) {
		errs = append(errs, lease.Release(ctx))
	}
	return errors.Join(errs...)
}

// giveBack is a Release to which a lock that was lost is given back.
func (l *multiLease) giveBack(ctx context.Context) error {
	var errs []error
	for _, lease := range slices.Backward(l.leases) {
		if err := lease.Release(ctx); !errors.Is(err, lock.ErrNotHeld) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// A reportingMultiLease is one whose every lock reports.
type reportingMultiLease struct{ multiLease }

// Reports implements [Reporter].
func (l *reportingMultiLease) Reports() {}
