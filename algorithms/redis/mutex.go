package redis

import (
	"context"
	"sync"

	"locklab/algorithms/lock"
)

var _ lock.Strategy = (*Mutex)(nil)

var mutex = lock.Entry{
	ID:      "mutex",
	Family:  lock.OneProcess,
	Article: "003-0",
	Year:    1974,
	Title:   lock.Text{EN: "synchronized: a mutex inside one process", ZH: "synchronized：单个进程内的互斥锁"},
	Nodes:   1,
	Expiry:  lock.ExpiryNone,
	New:     func(lock.Env) lock.Strategy { return &Mutex{} },
}

// Mutex excludes the users of one Strategy: the threads of one process. The history of
// these locks begins with it. (1974: Hoare's monitors. Article 003-0, which prints Java's
// synchronized.)
//
// How it fails: deployed on two machines it is two locks. It gets a server from Env and
// sends nothing to it.
//
// Where ours differs: Acquire refuses instead of queueing, and refuses the thread that
// holds the lock too, because a Strategy does not know which thread calls; Java lets that
// thread enter again. Unlike other strategies it may be used concurrently.
type Mutex struct {
	held sync.Map // key: *mutexLease
}

// Acquire takes the key unless this process holds it already.
func (s *Mutex) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &mutexLease{lock: s, key: key}
	if _, taken := s.held.LoadOrStore(key, l); taken {
		return nil, lock.ErrNotAcquired
	}
	return l, nil
}

var _ lock.Reporter = (*mutexLease)(nil)

type mutexLease struct {
	reports
	lock *Mutex
	key  string
}

// Release frees the key in this process. The second call returns ErrNotHeld.
func (l *mutexLease) Release(context.Context) error {
	if !l.lock.held.CompareAndDelete(l.key, l) {
		return lock.ErrNotHeld
	}
	return nil
}
