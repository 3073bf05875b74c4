package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"locklab/algorithms/lock"
)

// cronV2 is setnx-expire with two changes: the value is the time at which the lease ends (nothing reads it), and the
// process deletes the key when it is shut down. (2009, like setnx-expire. Article 004-F, closeOrderTaskV2.)
//
// It was meant to fix the deadlock after a process is stopped while it holds the lock.
//
// How it fails: the cleanup deletes the key without checking the owner, so every orderly restart of one instance
// releases the lock of another. The cleanup does not cover a crash between SETNX and EXPIRE. DEL is not in a finally
// block: after an exception the key stays for its TTL of 5 s (the comment next to it says 50), and so short a TTL ends
// while the batch is still running.
//
// Ours deletes, in Close, every key for which this process has called Acquire; the article's class has a single key.
var cronV2 = setNXExpire.Variant("cron-v2", 2009,
	func(env lock.Env) lock.Lock { return &Cron{env: env} }).
	InArticle("004-F").Changed(func(e *lock.Entry) { e.TTL = 5 * time.Second })

// cronV3 is cron-v2 that also reads the time in the key: if SETNX fails and the time has passed, it takes over with
// GETSET. (2009. Article 004-G, closeOrderTaskV3, "doubly safe from deadlock".)
//
// It was meant to fix the crash between SETNX and EXPIRE.
//
// How it fails: as cron-v2, and the time is compared with the reader's clock. GETSET removes the TTL. The winner sets
// it again, in two steps as before. A loser does not: if its GETSET comes after the winner's EXPIRE, only the time in
// the key still limits the lease.
var cronV3 = cronV2.Variant("cron-v3", 2009,
	func(env lock.Env) lock.Lock { return &Cron{env: env, takesOver: true} }).
	InArticle("004-G").Changed(func(e *lock.Entry) { e.Family = lock.Stamps })

var _ lock.Closer = (*Cron)(nil)

// Cron locks a task that every instance of a service starts at once and only one should run; see cron-v2 and cron-v3.
type Cron struct {
	env       lock.Env
	takesOver bool
	keys      []string // of all calls of Acquire, each once
}

// Acquire sends SETNX and then EXPIRE; if the key exists and the lock takes over, GET, GETSET and EXPIRE. It reads the
// clock again for each stamp and comparison. After an error it is unknown what was written.
func (s *Cron) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
	}
	node := s.env.Nodes[0]
	err := setnxThenExpire(ctx, node, key, s.stamp(), s.env.TTL)
	if errors.Is(err, lock.ErrNotAcquired) && s.takesOver {
		err = s.takeOver(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	return &blindDelLease{node, key}, nil
}

// stamp is the time at which a lease that begins now ends, in Unix milliseconds on the client's clock.
func (s *Cron) stamp() string { return strconv.FormatInt(s.now()+s.env.TTL.Milliseconds(), 10) }

func (s *Cron) now() int64 { return s.env.Clock.Now().UnixMilli() }

func (s *Cron) takeOver(ctx context.Context, key string) error {
	node := s.env.Nodes[0]
	old, exists, err := sendGET(ctx, node, key)
	switch {
	case err != nil:
		return err
	case !exists: // released since SETNX: no second attempt
		return lock.ErrNotAcquired
	}
	end, err := parseStamp(key, old)
	switch {
	case err != nil:
		return err
	case s.now() <= end:
		return lock.ErrNotAcquired
	}
	replaced, existed, err := sendGETSET(ctx, node, key, s.stamp())
	switch {
	case err != nil:
		return err
	case existed && replaced != old: // another client was faster, and its key has lost its TTL
		return lock.ErrNotAcquired
	}
	return expireBlind(ctx, node, key, "", s.env.TTL)
}

// Close deletes the keys for which this process has called Acquire, without checking the owner.
func (s *Cron) Close(ctx context.Context) error {
	var errs []error
	for _, key := range s.keys {
		errs = append(errs, delBlind(ctx, s.env.Nodes[0], key, ""))
	}
	return errors.Join(errs...)
}
