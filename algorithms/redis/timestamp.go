package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var _ lock.Strategy = (*Timestamp)(nil)

// takeoverDel is [Timestamp] with the takeover that comes to mind first: too old,
// so DEL, then SETNX. (2009: the SETNX page of Redis's manual warns of it.
// Article 000-A.)
//
// It was meant to mend the deadlock of setnx.
//
// How it falls: two clients see the same old stamp. The first deletes the key and
// creates its own; the second deletes that one and creates its own. Both hold.
var takeoverDel = stamped("takeover-del", time.Second,
	lock.Text{EN: "SETNX with a time stamp, takeover by DEL and SETNX", ZH: "SETNX 存时间戳，超时后先 DEL 再 SETNX 接管"},
	func(s *Timestamp) { s.again, s.takeOver = true, s.delAndSetnx }, "000-A")

// getSetTimeout is [Timestamp] with takeover by GETSET, of which exactly one of
// many clients gets the old stamp back. A GET that finds no key is treated like
// one that finds an old stamp. (2009. Article 000-B, the first of the two ways to
// go on that its text compares; it rejects this one.)
//
// It was meant to mend takeover-del.
//
// How it falls: with an unlocked key the lock is taken by GETSET and not by SETNX,
// so a client that was slow between its GET and its GETSET replaces the stamp of
// whoever came in between. That one's lease then ends when the loser's would.
var getSetTimeout = stamped("getset-timeout", time.Second,
	lock.Text{EN: "SETNX with a time stamp, takeover by GETSET, also when GET finds nothing", ZH: "SETNX 存时间戳，用 GETSET 接管，GET 为空也走接管"},
	func(s *Timestamp) { s.takeOver = s.getSet }, "000-B1")

// getSetTimeoutMS is getset-timeout with stamps in milliseconds, in which article
// 000 sees the cure; see getset-retry-ms.
var getSetTimeoutMS = stamped("getset-timeout-ms", time.Millisecond,
	lock.Text{EN: "getset-timeout with stamps in milliseconds", ZH: "getset-timeout，时间戳精确到毫秒"},
	func(s *Timestamp) { s.takeOver = s.getSet }, "000-B1-ms")

// getSetRetry is getset-timeout with the other way to go on: a GET that finds no
// key goes back to SETNX. (2009. Article 000-B, the way that its text prefers.)
//
// How it falls: as [Timestamp] does. And stamps of one second are not unique: the
// lock is released and taken again within the second, and a client whose clock is
// ahead, which read the first stamp, gets an equal one back from GETSET and takes
// the second lock for the first.
var getSetRetry = stamped("getset-retry", time.Second,
	lock.Text{EN: "SETNX with a time stamp in seconds, takeover by GETSET", ZH: "SETNX 存时间戳（精确到秒），用 GETSET 接管"},
	func(s *Timestamp) { s.again, s.takeOver = true, s.getSet }, "000-B2", "000-B")

// getSetRetryMS is getset-retry with stamps in milliseconds, so that two of them
// are seldom equal. Article 000 calls it safe then. All falls that come from
// clocks and pauses remain.
var getSetRetryMS = stamped("getset-retry-ms", time.Millisecond,
	lock.Text{EN: "SETNX with a time stamp in milliseconds, takeover by GETSET", ZH: "SETNX 存时间戳（精确到毫秒），用 GETSET 接管"},
	func(s *Timestamp) { s.again, s.takeOver = true, s.getSet }, "000-B2-ms")

// getSetNil is getset-timeout with the condition that its author had written
// first: the lock is acquired if GET and GETSET answer the same, and nothing else
// counts. (2009. Article 000-Bnil, the deadlock that the author met.)
//
// How it falls: GET answers an old stamp, the key is deleted, GETSET answers nil
// and creates it. The two differ, so the client takes the lock for lost, and the
// next one finds a stamp that nobody holds. It blocks all for a whole lease.
var getSetNil = stamped("getset-nil", time.Second,
	lock.Text{EN: "SETNX with a time stamp, takeover by GETSET, nil counts as lost", ZH: "SETNX 存时间戳，用 GETSET 接管，GETSET 返回 nil 时算没抢到"},
	func(s *Timestamp) { s.takeOver = s.getSetEqual }, "000-Bnil")

// getSetCheck is getset-retry whose holder looks whether the key still has its
// own stamp, by Check before the critical step, and again before DEL. (2009: the
// manual's advice. Article 000-D, which rejects it: with a look of several
// milliseconds and a critical section of less than ten.)
//
// It was meant to mend the DEL of a successor's lock.
//
// How it falls: between the look and what follows there is a gap. And the loser of
// a takeover leaves its stamp in place of the winner's, who then believes to have
// lost a lock that nobody else has, and does not delete it: it blocks all for a
// whole lease. Article 000 says that this write does no harm, a few lines before
// it gives this advice.
var getSetCheck = stamped("getset-check", time.Second,
	lock.Text{EN: "SETNX with a time stamp, takeover by GETSET, the holder looks again", ZH: "SETNX 存时间戳，用 GETSET 接管，持有者动手前再查一次"},
	func(s *Timestamp) { s.again, s.takeOver, s.looks = true, s.getSet, true }, "000-D")

// Timestamp writes the time into the key at which it was created. Whoever finds
// it there longer ago than a TTL takes the lock over: the article's text tells
// this lock in several ways, which differ in how. [GetSet] is the class that it
// prints in the end.
//
// How all of them fall: the stamp is compared with the reader's clock, and each
// reader applies its own TTL. A clock that is ahead takes a live lock. A loser of
// the takeover by GETSET overwrites the winner's stamp. DEL asks nobody.
//
// Our form reads the clock once for each SETNX and writes the same stamp by
// GETSET. In seconds, a lease ends up to one of them late, since it takes more
// than a TTL between two whole seconds. A stamp that is no number is an error of
// Acquire.
type Timestamp struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration
	unit  time.Duration // of the stamp

	again    bool // a GET without a key goes back to SETNX, and counts as an old stamp otherwise
	looks    bool // at its own stamp, before DEL and by Check
	takeOver func(ctx context.Context, key string, old reading, stamp string) (bool, error)
}

// A reading is what GET answered.
type reading struct {
	value string
	there bool
}

// stamped is a Timestamp that counts in unit and is changed, under its articles' ids.
func stamped(id string, unit time.Duration, title lock.Text, change func(s *Timestamp), articles ...string) lock.Entry {
	return lock.Entry{
		ID:      id,
		Family:  lock.Stamps,
		Article: articles[0],
		Also:    articles[1:],
		Year:    2009,
		Title:   title,
		Nodes:   1,
		TTL:     20 * time.Second,
		Unit:    unit,
		Expiry:  lock.ExpiryClients,
		New: func(env lock.Env) lock.Strategy {
			s := newTimestamp(env, unit)
			change(s)
			return s
		},
	}
}

func newTimestamp(env lock.Env, unit time.Duration) *Timestamp {
	return &Timestamp{node: env.Nodes[0], clock: env.Clock, ttl: env.TTL, unit: unit}
}

// Acquire sends SETNX; if the key exists, GET; if that is too old, it takes over.
// An error leaves open what was written.
func (s *Timestamp) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	for {
		now := s.now()
		stamp := strconv.FormatInt(now, 10)
		created, err := setnx(ctx, s.node, key, stamp)
		switch {
		case err != nil:
			return nil, err
		case created:
			return s.lease(key, stamp), nil
		}
		value, there, err := get(ctx, s.node, key)
		if err != nil {
			return nil, err
		}
		if !there && s.again {
			continue
		}
		if there {
			born, err := parseStamp(key, value)
			if err != nil {
				return nil, err
			}
			if now-born <= int64(s.ttl/s.unit) {
				return nil, lock.ErrNotAcquired
			}
		}
		taken, err := s.takeOver(ctx, key, reading{value, there}, stamp)
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

// delAndSetnx takes over by two commands.
func (s *Timestamp) delAndSetnx(ctx context.Context, key string, _ reading, stamp string) (bool, error) {
	// The weak place: by now it may be another's key.
	if err := del(ctx, s.node, key, ""); err != nil {
		return false, err
	}
	return setnx(ctx, s.node, key, stamp)
}

// getSet takes over if nobody else did, or if there was nothing to take.
func (s *Timestamp) getSet(ctx context.Context, key string, old reading, stamp string) (bool, error) {
	replaced, err := s.replace(ctx, key, stamp)
	return !replaced.there || replaced == old, err
}

// getSetEqual takes over if GET and GETSET answered the same.
func (s *Timestamp) getSetEqual(ctx context.Context, key string, old reading, stamp string) (bool, error) {
	replaced, err := s.replace(ctx, key, stamp)
	return replaced == old, err
}

// replace sends GETSET.
func (s *Timestamp) replace(ctx context.Context, key, stamp string) (reading, error) {
	value, there, err := getset(ctx, s.node, key, stamp)
	return reading{value, there}, err
}

func (s *Timestamp) lease(key, stamp string) lock.Lease {
	if s.looks {
		return &lookingLease{s.node, key, stamp}
	}
	return &plainLease{s.node, key}
}

var _ lock.Checker = (*lookingLease)(nil)

type (
	// A plainLease is given back by DEL, whoever holds the key.
	plainLease struct {
		node redis.UniversalClient
		key  string
	}
	// A lookingLease looks for its stamp.
	lookingLease struct {
		node       redis.UniversalClient
		key, stamp string
	}
)

// Release deletes the key, whoever holds it.
func (l *plainLease) Release(ctx context.Context) error { return del(ctx, l.node, l.key, "") }

// Check returns ErrNotHeld when the key does not hold this lease's stamp any
// more. It looks at no clock.
func (l *lookingLease) Check(ctx context.Context) error {
	value, there, err := get(ctx, l.node, l.key)
	switch {
	case err != nil:
		return err
	case !there || value != l.stamp:
		return lock.ErrNotHeld
	}
	return nil
}

// Release deletes the key if a look before showed this lease's stamp, and returns
// ErrNotHeld otherwise.
func (l *lookingLease) Release(ctx context.Context) error {
	if err := l.Check(ctx); err != nil {
		return err
	}
	return del(ctx, l.node, l.key, "")
}
