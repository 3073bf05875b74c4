package zookeeper

import (
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

var (
	_ lock.Queuer = (*NaiveQueue)(nil)
	_ lock.Queuer = (*HerdQueue)(nil)
	_ lock.Queuer = (*CheckedQueue)(nil)
	_ lock.Queuer = (*ProtectedQueue)(nil)
)

// The four queues share their places: each is an ephemeral sequential znode below
// the key's, and the lowest number holds the lock. They differ in what they make
// of a wake-up, and of a lost answer.
var (
	naiveQueue = lock.Entry{
		ID:      "zk-naive",
		Family:  lock.Line,
		Article: "003-E",
		Year:    2008,
		Title:   lock.Text{EN: "ZooKeeper: watch the one before, woken means it is mine", ZH: "ZooKeeper：监听前一个节点，一被唤醒就当锁归自己"},
		Expiry:  lock.ExpirySession,
		Line:    lockPath,
		New:     func(env lock.Env) lock.Strategy { return &NaiveQueue{env.ZooKeeper, env.Clock} },
	}
	herdQueue = lock.Entry{
		ID:     "zk-herd",
		Family: lock.Line,
		Year:   2010,
		Title:  lock.Text{EN: "ZooKeeper: everybody watches the whole queue", ZH: "ZooKeeper：所有人都监听整个队列（羊群效应）"},
		Expiry: lock.ExpirySession,
		Line:   lockPath,
		New:    func(env lock.Env) lock.Strategy { return &HerdQueue{env.ZooKeeper, env.Clock} },
	}
	checkedQueue = lock.Entry{
		ID:     "zk-recheck",
		Family: lock.Line,
		Year:   2008,
		Title:  lock.Text{EN: "ZooKeeper: watch the one before, woken means look again", ZH: "ZooKeeper：监听前一个节点，被唤醒后重新检查"},
		Expiry: lock.ExpirySession,
		Line:   lockPath,
		New:    func(env lock.Env) lock.Strategy { return &CheckedQueue{env.ZooKeeper, env.Clock} },
	}
	protectedQueue = lock.Entry{
		ID:     "zk-protected",
		Family: lock.Line,
		Year:   2011,
		Title:  lock.Text{EN: "ZooKeeper: look again, and a GUID in the name against a lost answer", ZH: "ZooKeeper：重新检查，并在节点名里带 GUID，防止创建成功而应答丢失"},
		Expiry: lock.ExpirySession,
		Line:   lockPath,
		New:    func(env lock.Env) lock.Strategy { return &ProtectedQueue{env.ZooKeeper, env.Clock, env.Tokens} },
	}
)

// placeName is what the places of a mutex are called, as in the recipe.
const placeName = "lock"

// NaiveQueue is the queue as article 003 tells it: each watches the one before
// it, and "once notified" the lock is its own. (Article 003-E. ZooKeeper's first
// release, with ephemeral and sequential znodes, is of 2008.)
//
// It was meant to mend what a Redis lock cannot promise: nobody guesses how long
// the work will take, as the lock lives as long as the session of its holder;
// nobody polls; and who came first is served first.
//
// How it falls: the one before may vanish without ever having held the lock. It
// was only waiting, and its session ended or its patience did; then the next in
// line walks in beside the holder. All falls of [CheckedQueue] come on top.
//
// Our form fences: the lease carries its place's czxid.
type NaiveQueue struct {
	zk    lock.ZooKeeper
	clock lock.Clock
}

// Acquire implements [Strategy].
func (s *NaiveQueue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. An error leaves open whether a place was taken.
func (s *NaiveQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	wait := newWait(s.clock, patience)
	own, err := join(ctx, s.zk, lockPath(key), "", placeName)
	if err != nil {
		return nil, err
	}
	if err := s.turn(ctx, own, wait); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own.fenced(ctx)
}

// turn waits once.
func (s *NaiveQueue) turn(ctx context.Context, own *place, wait *wait) error {
	queue, i, err := own.look(ctx)
	switch {
	case err != nil || i == 0:
		return err
	case wait.over() != nil:
		return wait.over()
	}
	watch, err := own.watch(ctx, queue[i-1])
	switch {
	case errors.Is(err, lock.ErrNoNode): // gone since the look: as good as a wake-up
		return nil
	case err != nil:
		return err
	}
	return wait.on(ctx, watch)
}

// HerdQueue watches the whole queue, and looks at it again whenever anybody comes
// or goes. (2010: the USENIX paper on ZooKeeper, section 2.4, describes the herd
// that locks without a queue wake up, and the queue as the cure. This is the
// queue without the cure.)
//
// It takes [NaiveQueue]'s wrong step back: a wake-up says that something has
// changed, and no more.
//
// How it falls: of n waiters that wake up, n-1 have done so in vain, at each
// release, and as well whenever somebody joins. Its other falls are those of
// [CheckedQueue].
type HerdQueue struct {
	zk    lock.ZooKeeper
	clock lock.Clock
}

// Acquire implements [Strategy].
func (s *HerdQueue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. An error leaves open whether a place was taken.
func (s *HerdQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	wait := newWait(s.clock, patience)
	own, err := join(ctx, s.zk, lockPath(key), "", placeName)
	if err != nil {
		return nil, err
	}
	if err := s.turn(ctx, own, wait); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own.fenced(ctx)
}

// turn waits until the place is the first.
func (s *HerdQueue) turn(ctx context.Context, own *place, wait *wait) error {
	for {
		names, watch, err := s.zk.WatchChildren(ctx, own.parent)
		if err != nil {
			return lock.Unknown("children", own.parent, err)
		}
		switch _, i, err := own.find(names); {
		case err != nil || i == 0:
			return err
		case wait.over() != nil:
			return wait.over()
		}
		if err := wait.on(ctx, watch); err != nil {
			return err
		}
	}
}

// CheckedQueue watches the one before it, and looks again when it is woken. (The
// recipe "Locks" of ZooKeeper's documentation.)
//
// It was meant to mend [NaiveQueue], which takes a wake-up for a grant, and
// [HerdQueue], which wakes everybody: here each end of a place wakes one.
//
// How it falls, and with it every lock on a session:
//   - A holder that pauses for longer than its session's time-out does not learn
//     that its place is gone, and shares the critical section with the next. The
//     fencing token saves the resource, if that looks at it; nothing else does.
//     "No deadlock" and "absolutely correct" are bought from the same time-out.
//   - The answer to create is lost. The place stands, its owner does not know it,
//     joins once more, and waits behind itself for as long as its session lives.
//   - Numbers end. ZooKeeper's guide says that the counter overflows beyond
//     2147483647; the first place after that has the lowest number, and walks in
//     beside the holder. The server 3.8 stays at 2147483647 instead, and as long
//     as one place stands refuses all others of that name with "node exists":
//     there is still a lock, but no line, until the parent is made anew.
type CheckedQueue struct {
	zk    lock.ZooKeeper
	clock lock.Clock
}

// Acquire implements [Strategy].
func (s *CheckedQueue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. An error leaves open whether a place was taken.
func (s *CheckedQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	own, err := queueUp(ctx, s.zk, lockPath(key), "", placeName, newWait(s.clock, patience), oneBefore)
	if err != nil {
		return nil, err
	}
	return own.fenced(ctx)
}

// ProtectedQueue is a [CheckedQueue] whose places carry a name of their own, so
// that a client which has lost the answer to create finds its place in the
// queue. (2011: in Curator since October, as withProtection since 1.1.10 of May
// 2012; and in the recipe by April 2012, after ZOOKEEPER-1262.)
//
// How it falls: a pause is no better than with CheckedQueue. If the look fails as
// well, the place stands until the session ends. And where the ensemble gives one
// number to all (see CheckedQueue), names that differ make the create succeed:
// the order is then that of the GUIDs, and a newcomer may sort before the holder.
//
// Our form takes the GUID from Env.Tokens, and looks once: if the place is not
// there the attempt has failed. Curator tries again as its retry policy says, and
// deletes a place that it could not find in the background.
type ProtectedQueue struct {
	zk     lock.ZooKeeper
	clock  lock.Clock
	tokens lock.Tokens
}

// Acquire implements [Strategy].
func (s *ProtectedQueue) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s.Await(ctx, key, 0)
}

// Await implements [Queuer]. An error leaves open whether a place was taken only
// if the look for it failed too.
func (s *ProtectedQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	own, err := s.await(ctx, lockPath(key), newWait(s.clock, patience))
	if err != nil {
		return nil, err
	}
	return own.fenced(ctx)
}

// await is Await below any parent.
func (s *ProtectedQueue) await(ctx context.Context, parent string, wait *wait) (*place, error) {
	return queueUp(ctx, s.zk, parent, s.tokens.Token(), placeName, wait, oneBefore)
}

// A rule says who of the queue keeps the i-th out: nobody is "".
type rule func(queue []string, i int) (before string)

// oneBefore is the rule of a mutex.
func oneBefore(queue []string, i int) string {
	if i == 0 {
		return ""
	}
	return queue[i-1]
}

// queueUp joins the queue below parent and waits until nobody keeps its place
// out, waking up only for the one who does. It leaves no place behind when it
// fails, unless the ensemble does not answer.
func queueUp(ctx context.Context, zk lock.ZooKeeper, parent, guid, name string, wait *wait, rule rule) (*place, error) {
	own, err := join(ctx, zk, parent, guid, name)
	if err != nil {
		return nil, err
	}
	if err := own.turn(ctx, wait, rule); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own, nil
}

// turn waits until nobody keeps the place out.
func (p *place) turn(ctx context.Context, wait *wait, rule rule) error {
	for {
		queue, i, err := p.look(ctx)
		if err != nil {
			return err
		}
		before := rule(queue, i)
		if before == "" {
			return nil
		}
		if err := wait.over(); err != nil {
			return err
		}
		watch, err := p.watch(ctx, before)
		if errors.Is(err, lock.ErrNoNode) {
			continue // gone since the look
		}
		if err != nil {
			return err
		}
		if err := wait.on(ctx, watch); err != nil {
			return err
		}
	}
}
