package redis

import (
	"context"
	"sync"

	"locklab/algorithms/lock"
)

var mutex = lock.Entry{
	ID:      "mutex",
	Family:  lock.OneProcess,
	Article: "003-0",
	Year:    1974,
	Server:  lock.OnRedis(1),
	Expiry:  lock.ExpiryNone,
	New:     func(lock.Env) lock.Lock { return &Mutex{held: map[string]*mutexLease{}} },
}

// Mutex excludes the users of one Lock: the threads of one process. The history of these locks begins with it. (1974:
// Hoare's monitors. Article 003-0, which prints Java's synchronized.)
//
// How it fails: deployed on two machines it is two locks. It gets a server from Env and sends nothing to it.
//
// Where ours differs: Acquire refuses instead of queueing, and refuses the holding thread too, since a Lock does not
// know which thread calls; Java lets that thread enter again. Unlike other locks it may be used concurrently.
type Mutex struct {
	mu   sync.Mutex
	held map[string]*mutexLease // by key
}

// Acquire takes the key unless this process holds it already.
func (s *Mutex) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] != nil {
		return nil, lock.ErrNotAcquired
	}
	s.held[key] = &mutexLease{lock: s, key: key}
	return s.held[key], nil
}

type mutexLease struct {
	reports
	lock *Mutex
	key  string
}

// Release frees the key in this process. The second call returns ErrNotHeld.
func (l *mutexLease) Release(context.Context) error {
	l.lock.mu.Lock()
	defer l.lock.mu.Unlock()
	if l.lock.held[l.key] != l {
		return lock.ErrNotHeld
	}
	delete(l.lock.held, l.key)
	return nil
}
