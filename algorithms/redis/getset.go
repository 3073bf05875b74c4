package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var getSet = lock.Entry{
	ID:      "getset",
	Family:  lock.Stamps,
	Article: "000-C",
	Year:    2009,
	Server:  lock.OnRedis(1),
	TTL:     20 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryClients,
	New:     func(env lock.Env) lock.Lock { return &GetSet{env.Nodes[0], env.Clock, env.TTL} },
}

// GetSet writes the time at which the lease ends into the key. A client that finds this time in the past takes the lock
// over with GETSET. (2009: the pattern is on the SETNX page of Redis's manual since December 2009. Article 000-C is a
// Java class of 2017 that does it in milliseconds.)
//
// It was meant to fix the deadlock of setnx without using a TTL (setnx-expire says why), and without the race of "too
// old: DEL, then SETNX", in which the second of two cleaners deletes the first one's new lock. GETSET writes and reads
// in one step, so that of all clients that saw the same old stamp exactly one gets it back.
//
// How it fails:
//   - The stamp is compared with the reader's clock. A client whose clock is ahead by more
//     than the rest of the lease takes a valid lock.
//   - GETSET on a key that has just been deleted answers nil and creates it. The article
//     counts nil as lost, so the loser's stamp stays: an orphan lock without a holder, for
//     a whole lease.
//   - Every loser of the takeover overwrites the winner's stamp with its own.
//   - The clock is read once, at the beginning. A pause between that and GETSET writes a
//     stamp that may already have passed.
//   - now == stamp counts as expired.
//   - DEL does not check the owner: it deletes a successor's lock and reports success.
//
// Ours is the printed class, step by step, with the connection of Env in place of one static connection of all threads,
// and a TTL in whole milliseconds, not seconds. Where Java throws on what is no number, Acquire returns an error.
type GetSet struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration
}

// Acquire sends SETNX; if the key exists, GET; if the stamp has passed, GETSET. An error leaves open what was written.
func (s *GetSet) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	now := s.clock.Now().UnixMilli()
	expiry := strconv.FormatInt(now+s.ttl.Milliseconds(), 10)

	created, err := sendSETNX(ctx, s.node, key, expiry)
	switch {
	case err != nil:
		return nil, err
	case created:
		return &getSetLease{node: s.node, key: key}, nil
	}
	return s.takeOver(ctx, key, now, expiry)
}

// takeOver is the second half of Acquire: the key exists, but its stamp may have passed.
// now is the client's clock at the beginning of Acquire, in Unix milliseconds.
func (s *GetSet) takeOver(ctx context.Context, key string, now int64, expiry string) (lock.Lease, error) {
	old, exists, err := sendGET(ctx, s.node, key)
	switch {
	case err != nil:
		return nil, err
	case !exists: // released since SETNX; the class does not try again
		return nil, lock.ErrNotAcquired
	}
	oldStamp, err := parseStamp(key, old)
	if err != nil {
		return nil, err
	}
	if now < oldStamp {
		return nil, lock.ErrNotAcquired
	}

	replaced, existed, err := sendGETSET(ctx, s.node, key, expiry)
	switch {
	case err != nil:
		return nil, err
	case !existed || strings.TrimSpace(replaced) == "":
		return nil, lock.ErrNotAcquired // and our stamp stays: the orphan
	}
	replacedStamp, err := parseStamp(key, replaced)
	switch {
	case err != nil:
		return nil, err
	case replacedStamp != oldStamp: // another client was faster, and now has our stamp
		return nil, lock.ErrNotAcquired
	}
	return &getSetLease{node: s.node, key: key}, nil
}

// parseStamp reads a Unix time, in any unit.
func parseStamp(key, value string) (int64, error) {
	stamp, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("redis: %q holds no time stamp: %w", key, err)
	}
	return stamp, nil
}

type getSetLease struct {
	reports
	node redis.UniversalClient
	key  string
}

// Release deletes the key without checking the owner, and returns ErrNotHeld only if there was no key. As a Reporter it
// therefore makes a false statement about a lock that was taken over in the meantime.
func (l *getSetLease) Release(ctx context.Context) error {
	deleted, err := l.node.Del(ctx, l.key).Result()
	switch {
	case err != nil:
		return lock.Unknown("DEL", l.key, err)
	case deleted == 0:
		return lock.ErrNotHeld
	}
	return nil
}
