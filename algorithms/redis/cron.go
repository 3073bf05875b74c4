package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"locklab/algorithms/lock"
)

// cronV2 is setnx-expire whose value is the time at which the lease ends, which
// nobody ever reads, and whose process deletes the key when it is shut down.
// (2009, as setnx-expire. Article 004-F, closeOrderTaskV2.)
//
// It was meant to mend the deadlock of a process that is stopped while it holds
// the lock.
//
// How it falls: the clean-up deletes the key of whoever holds it, so each orderly
// restart of one instance opens the lock of another. A crash between SETNX and
// EXPIRE is not covered by it. DEL is in no finally: an exception leaves the key
// for its TTL, of 5 s (the comment beside it says 50), and so short a TTL ends
// while the batch still works.
//
// Our form deletes, in Close, all keys that this process has asked for; the
// article's class has one.
var cronV2 = lock.Entry{
	ID:      "cron-v2",
	Family:  lock.TwoSteps,
	Article: "004-F",
	Year:    2009,
	Title:   lock.Text{EN: "closeOrderTaskV2: SETNX, EXPIRE, DEL, and DEL in @PreDestroy", ZH: "closeOrderTaskV2：SETNX、EXPIRE、DEL，@PreDestroy 里再 DEL"},
	Nodes:   1,
	TTL:     5 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Strategy { return &Cron{env: env} },
}

// cronV3 is cron-v2 that also reads the time in the key: if SETNX fails and the
// time is past, it takes over by GETSET. (2009. Article 004-G, closeOrderTaskV3,
// "doubly safe from deadlock".)
//
// It was meant to mend the crash between SETNX and EXPIRE.
//
// How it falls: as cron-v2, and the time is compared with the reader's clock. A
// GETSET drops the TTL. The winner sets one again, two steps as before; a loser
// does not, so when it comes after the winner's EXPIRE the time in the key is the
// only safety left.
var cronV3 = lock.Entry{
	ID:      "cron-v3",
	Family:  lock.Stamps,
	Article: "004-G",
	Year:    2009,
	Title:   lock.Text{EN: "closeOrderTaskV3: SETNX with a time stamp, EXPIRE, takeover by GETSET", ZH: "closeOrderTaskV3：SETNX 存时间戳，EXPIRE，用 GETSET 接管（双重防死锁）"},
	Nodes:   1,
	TTL:     5 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Strategy { return &Cron{env: env, takesOver: true} },
}

var _ lock.Closer = (*Cron)(nil)

// Cron is the lock of a task that every instance of a service starts at the same
// time, so that one of them does it; cron-v2 and cron-v3 tell the rest.
type Cron struct {
	env       lock.Env
	takesOver bool
	keys      []string // that it has asked for, each once
}

// Acquire sends SETNX and then EXPIRE; if the key exists and the lock takes over,
// GET, GETSET and EXPIRE. An error leaves open what was written. The clock is read
// anew for each.
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
	return &plainLease{node, key}, nil
}

// stamp is the time at which a lease from now ends, in Unix milliseconds.
func (s *Cron) stamp() string {
	return strconv.FormatInt(s.now()+s.env.TTL.Milliseconds(), 10)
}

func (s *Cron) now() int64 { return s.env.Clock.Now().UnixMilli() }

func (s *Cron) takeOver(ctx context.Context, key string) error {
	node := s.env.Nodes[0]
	old, there, err := get(ctx, node, key)
	switch {
	case err != nil:
		return err
	case !there: // released since the SETNX: not tried again
		return lock.ErrNotAcquired
	}
	end, err := parseStamp(key, old)
	switch {
	case err != nil:
		return err
	case s.now() <= end:
		return lock.ErrNotAcquired
	}
	replaced, there, err := getset(ctx, node, key, s.stamp())
	switch {
	case err != nil:
		return err
	case there && replaced != old: // somebody was faster, and has lost its TTL now
		return lock.ErrNotAcquired
	}
	return expireAnybodys(ctx, node, key, "", s.env.TTL)
}

// Close deletes the keys that this process has asked for, whoever holds them.
func (s *Cron) Close(ctx context.Context) error {
	var errs []error
	for _, key := range s.keys {
		errs = append(errs, del(ctx, s.env.Nodes[0], key, ""))
	}
	return errors.Join(errs...)
}
