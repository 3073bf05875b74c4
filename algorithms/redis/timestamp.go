package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// takeoverDel is [Timestamp] with the obvious takeover: too old, so DEL, then SETNX. (2009:
// the SETNX page of Redis's manual warns against it. Article 000-A.)
//
// It was meant to fix the deadlock of setnx.
//
// How it fails: two clients see the same old stamp. The first deletes the key and creates its
// own; the second deletes that one and creates its own. Both hold the lock.
var takeoverDel = stamped("takeover-del", time.Second,
	func(s *Timestamp) { s.retries, s.takeOver = true, s.delAndSetnx }, "000-A")

// getSetTimeout is [Timestamp] with takeover by GETSET: exactly one of several clients gets the old stamp back. A GET
// that finds no key is treated like one that finds an old stamp. (2009. Article 000-B, the first of the two ways to
// continue that its text compares; it rejects this one.)
//
// It was meant to fix takeover-del.
//
// How it fails: if there is no key, the lock is taken with GETSET, not SETNX. A client slow between its GET and its
// GETSET then replaces the stamp of a client that came in between, whose lease now ends when the loser's would.
var getSetTimeout = stamped("getset-timeout", time.Second,
	func(s *Timestamp) { s.takeOver = s.getSet }, "000-B1")

// getSetTimeoutMS is getset-timeout in milliseconds, which article 000 takes for the fix; see getset-retry-ms.
var getSetTimeoutMS = stamped("getset-timeout-ms", time.Millisecond,
	func(s *Timestamp) { s.takeOver = s.getSet }, "000-B1-ms")

// getSetRetry is getset-timeout with the other way to continue: if GET finds no key, it goes
// back to SETNX. (2009. Article 000-B, the way that its text prefers.)
//
// It was meant to fix the stamp that getset-timeout replaces.
//
// How it fails: as [Timestamp] does. And stamps of one second are not unique: if the lock is
// released and taken again within one second, a client with a fast clock that has read the
// first stamp gets an equal one back from GETSET, and takes the second lock for the first.
var getSetRetry = stamped("getset-retry", time.Second,
	func(s *Timestamp) { s.retries, s.takeOver = true, s.getSet }, "000-B2", "000-B")

// getSetRetryMS is getset-retry with stamps in milliseconds, so that two stamps are rarely
// equal. Article 000 then calls it safe. All failures caused by clocks and pauses remain.
var getSetRetryMS = stamped("getset-retry-ms", time.Millisecond,
	func(s *Timestamp) { s.retries, s.takeOver = true, s.getSet }, "000-B2-ms")

// getSetNil is getset-timeout with the condition that its author had written first: the lock is acquired if and only if
// GET and GETSET answer the same. (2009. Article 000-Bnil, the deadlock that the author ran into.)
//
// How it fails: GET answers an old stamp, the key is deleted, GETSET answers nil and creates it. The two differ, so the
// client takes the lock for lost, and the next one finds a stamp without a holder: an orphan for a whole lease.
var getSetNil = stamped("getset-nil", time.Second,
	func(s *Timestamp) { s.takeOver = s.getSetEqual }, "000-Bnil")

// getSetCheck is getset-retry with a holder that checks whether the key still has its own stamp: with Check before the
// critical step, and again before DEL. (2009: the advice of the manual. Article 000-D, which rejects it, because the
// check takes several milliseconds and the critical section less than ten.)
//
// It was meant to fix the DEL of a successor's lock.
//
// How it fails: there is a gap between the check and what follows. And the loser of a takeover replaces the winner's
// stamp with its own; the winner then believes to have lost a lock that no other has, and does not delete it: an orphan
// that blocks all for a whole lease. Just before this advice, article 000 says that the loser's write does no harm.
var getSetCheck = stamped("getset-check", time.Second,
	func(s *Timestamp) { s.retries, s.takeOver, s.checks = true, s.getSet, true }, "000-D")

// Timestamp writes the time into the key at which it was created. A client that finds a time more than a TTL ago takes
// the lock over. The article's text describes several variants of the takeover; [GetSet] is the class that it prints.
//
// How all of them fail: readers compare the stamp with their own clocks, and apply their own TTL. A client with a fast
// clock takes a valid lock. A loser of the takeover by GETSET overwrites the winner's stamp. DEL checks no owner.
//
// Ours reads the clock once for each SETNX and its GETSET. With stamps in seconds a lease ends up to one second late,
// since more than a TTL has to pass between two whole seconds. If a stamp is not a number, Acquire fails.
type Timestamp struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration
	unit  time.Duration // of the stamp

	retries  bool // if GET finds no key, go back to SETNX; otherwise treat it as an old stamp
	checks   bool // its own stamp, before DEL and with Check
	takeOver func(ctx context.Context, key string, old reading, stamp string) (bool, error)
}

// A reading is the answer to GET or GETSET.
type reading struct {
	value  string
	exists bool
}

// stamped is the entry of a Timestamp that counts in unit and is changed by change.
func stamped(id string, unit time.Duration, change func(s *Timestamp), articles ...string) lock.Entry {
	return lock.Entry{
		ID:      id,
		Family:  lock.Stamps,
		Article: articles[0],
		Also:    articles[1:],
		Year:    2009,
		Server:  lock.OnRedis(1),
		TTL:     20 * time.Second,
		Unit:    unit,
		Expiry:  lock.ExpiryClients,
		New: func(env lock.Env) lock.Lock {
			s := &Timestamp{node: env.Nodes[0], clock: env.Clock, ttl: env.TTL, unit: unit}
			change(s)
			return s
		},
	}
}

// Acquire sends SETNX; if the key exists, GET; an old stamp is replaced. After an error it is unknown what is set.
func (s *Timestamp) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	for {
		now := s.now()
		stamp := strconv.FormatInt(now, 10)
		created, err := sendSETNX(ctx, s.node, key, stamp)
		switch {
		case err != nil:
			return nil, err
		case created:
			return s.lease(key, stamp), nil
		}
		value, exists, err := sendGET(ctx, s.node, key)
		if err != nil {
			return nil, err
		}
		if !exists && s.retries {
			continue
		}
		if exists {
			born, err := parseStamp(key, value)
			if err != nil {
				return nil, err
			}
			if now-born <= int64(s.ttl/s.unit) {
				return nil, lock.ErrNotAcquired
			}
		}
		taken, err := s.takeOver(ctx, key, reading{value, exists}, stamp)
		switch {
		case err != nil:
			return nil, err
		case !taken:
			return nil, lock.ErrNotAcquired
		}
		return s.lease(key, stamp), nil
	}
}

// now is the client's clock in units since 1970.
func (s *Timestamp) now() int64 { return s.clock.Now().UnixMilli() / s.unit.Milliseconds() }

// delAndSetnx takes over with two commands.
func (s *Timestamp) delAndSetnx(ctx context.Context, key string, _ reading, stamp string) (bool, error) {
	// The weak point: by now the key may belong to another client.
	if err := delBlind(ctx, s.node, key, ""); err != nil {
		return false, err
	}
	return sendSETNX(ctx, s.node, key, stamp)
}

// getSet takes over unless another client already has, or if the key is gone.
func (s *Timestamp) getSet(ctx context.Context, key string, old reading, stamp string) (bool, error) {
	replaced, err := s.replace(ctx, key, stamp)
	return !replaced.exists || replaced == old, err
}

// getSetEqual takes over if GET and GETSET answer the same.
func (s *Timestamp) getSetEqual(ctx context.Context, key string, old reading, stamp string) (bool, error) {
	replaced, err := s.replace(ctx, key, stamp)
	return replaced == old, err
}

// replace sends GETSET.
func (s *Timestamp) replace(ctx context.Context, key, stamp string) (reading, error) {
	value, existed, err := sendGETSET(ctx, s.node, key, stamp)
	return reading{value, existed}, err
}

func (s *Timestamp) lease(key, stamp string) lock.Lease {
	if s.checks {
		return &checkedDelLease{s.node, key, stamp}
	}
	return &blindDelLease{s.node, key}
}

var _ lock.Checker = (*checkedDelLease)(nil)

type (
	// A blindDelLease is released with DEL, without checking the owner.
	blindDelLease struct {
		node redis.UniversalClient
		key  string
	}
	// A checkedDelLease is released with GET and then DEL.
	checkedDelLease struct {
		node       redis.UniversalClient
		key, stamp string
	}
)

// Release deletes the key without checking the owner.
func (l *blindDelLease) Release(ctx context.Context) error { return delBlind(ctx, l.node, l.key, "") }

// Check returns ErrNotHeld if the key does not hold this lease's stamp. It compares no clocks.
func (l *checkedDelLease) Check(ctx context.Context) error {
	return checkValue(ctx, l.node, l.key, l.stamp)
}

// Release deletes the key if it held this lease's stamp just before; otherwise it returns ErrNotHeld.
func (l *checkedDelLease) Release(ctx context.Context) error {
	return getThenDel(ctx, l.node, l.key, l.stamp)
}
