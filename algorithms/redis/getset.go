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

var _ lock.Strategy = (*GetSet)(nil)

var getSet = lock.Entry{
	ID:      "getset",
	Family:  lock.Stamps,
	Article: "000-C",
	Year:    2009,
	Title:   lock.Text{EN: "SETNX with a time stamp, takeover by GETSET", ZH: "SETNX 存时间戳，用 GETSET 接管"},
	Nodes:   1,
	TTL:     20 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryClients,
	New:     func(env lock.Env) lock.Strategy { return &GetSet{env.Nodes[0], env.Clock, env.TTL} },
}

// GetSet writes the time at which the lease ends into the key, and lets whoever
// finds that time past take the lock over by GETSET. (2009: the pattern stands
// on the SETNX page of Redis's manual from December 2009. Article 000-C is a
// Java class of 2017 that does it in milliseconds.)
//
// It was meant to mend the deadlock of setnx without a TTL (why, setnx-expire
// tells), and without the race of "too old: DEL, then SETNX", in which the second
// of two cleaners deletes the first one's new lock. GETSET writes and reads in one
// step, so of all clients that saw the same old stamp exactly one gets it back.
//
// How it falls:
//   - The stamp is compared with the reader's clock. A clock that is ahead by more
//     than what is left of the lease takes a live lock.
//   - GETSET on a key that has just been deleted answers nil and creates it. The
//     article counts nil as lost, so the loser's stamp stays: a lock that nobody
//     holds, for one whole lease.
//   - Every loser of the takeover overwrites the winner's stamp with its own.
//   - The clock is read once, on entry. A pause between that and the GETSET
//     writes a stamp that may already be past.
//   - now == stamp counts as expired.
//   - DEL asks nobody: it removes a successor's lock and reports success.
//
// Our form is the printed class, step by step, with the connection of Env in
// place of one static connection shared by all threads, and a TTL in whole
// milliseconds in place of seconds. A value that is no number makes Java throw;
// here it is an error of Acquire.
type GetSet struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration
}

// Acquire sends SETNX; if the key exists, GET; if the stamp is past, GETSET. An
// error leaves open what was written.
func (s *GetSet) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	now := s.clock.Now().UnixMilli()
	expiry := strconv.FormatInt(now+s.ttl.Milliseconds(), 10)

	created, err := setnx(ctx, s.node, key, expiry)
	switch {
	case err != nil:
		return nil, err
	case created:
		return &getSetLease{node: s.node, key: key}, nil
	}
	return s.takeOver(ctx, key, now, expiry)
}

// takeOver is the second half of Acquire: the key exists, but its time may have
// passed. now is the client's clock on entry, in Unix milliseconds.
func (s *GetSet) takeOver(ctx context.Context, key string, now int64, expiry string) (lock.Lease, error) {
	old, there, err := get(ctx, s.node, key)
	switch {
	case err != nil:
		return nil, err
	case !there: // released since the SETNX; the class does not try again
		return nil, lock.ErrNotAcquired
	}
	oldStamp, err := parseStamp(key, old)
	if err != nil {
		return nil, err
	}
	if now < oldStamp {
		return nil, lock.ErrNotAcquired
	}

	replaced, there, err := getset(ctx, s.node, key, expiry)
	switch {
	case err != nil:
		return nil, err
	case !there || strings.TrimSpace(replaced) == "":
		return nil, lock.ErrNotAcquired // and expiry stays behind: the orphan
	}
	replacedStamp, err := parseStamp(key, replaced)
	switch {
	case err != nil:
		return nil, err
	case replacedStamp != oldStamp: // somebody was faster, and now has our stamp
		return nil, lock.ErrNotAcquired
	}
	return &getSetLease{node: s.node, key: key}, nil
}

// parseStamp reads a Unix time, in whatever unit.
func parseStamp(key, value string) (int64, error) {
	stamp, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("algorithms: %q holds no time stamp: %w", key, err)
	}
	return stamp, nil
}

var _ lock.Reporter = (*getSetLease)(nil)

type getSetLease struct {
	reports
	node redis.UniversalClient
	key  string
}

// Release deletes the key, whoever holds it, and returns ErrNotHeld only when
// there was no key at all. As a Reporter it therefore lies about a lock that was
// taken over in the meantime.
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
