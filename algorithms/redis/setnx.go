package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// setNX is the first Redis lock: the client that creates the key holds the lock, and releases it by deleting the key.
// (2009: SETNX is in the first commit of Redis, March 2009. Article 003-A; 001-A and 002-A write another constant.)
//
// It was meant to fix [Mutex], which excludes no client on another machine. The server runs one
// command at a time, so that of any number of SETNX on a free key exactly one is answered 1.
//
// How it fails: the key has no TTL. A holder that crashes before DEL blocks all others for ever; so does one that
// throws between the two commands without a finally block. For the same reason it is the only lock here that survives
// any pause: no clock ever gives the lock to another client. All later locks are about this trade-off. Because the
// value is constant, a DEL by any client is a release, and after a lost reply to SETNX the creator takes its own key
// for another client's.
//
// Ours is the article's, command for command. It ignores Env.TTL.
var setNX = lock.Entry{
	ID:      "setnx",
	Family:  lock.TwoSteps,
	Article: "003-A",
	Also:    []string{"001-A", "002-A"},
	Year:    2009,
	Server:  lock.OnRedis(1),
	Expiry:  lock.ExpiryNone,
	New:     withValue("1", setnx, silent(delBlind)),
}

// setNXExpire creates the key and then sets its TTL. (2009: EXPIRE came in April 2009, a
// month after SETNX. Article 004-A; 003-B differs in the TTL, 3 s.)
//
// It was meant to fix the deadlock of setnx: a crashed holder's key now goes away by itself.
//
// How it fails: a crash, or an error, between the two commands leaves the key without a TTL: the old deadlock in a
// smaller window. And the TTL adds a failure of its own: a holder that works or pauses for longer than the TTL shares
// the critical section with its successor, and its DEL then deletes the successor's key, which lets a third client in.
//
// And for a while it did not lock at all. From December 2009 up to Redis 2.0, SETNX replaced a key that had a TTL
// (Redis's own test suite demanded that), so that the second client won too; since 2.2 of February 2011 the first key
// stays. A lock of that time had better keep its expiry in the value, as [GetSet] does.
//
// Ours is the article's. The try block begins after EXPIRE, so its error leaves Acquire and nothing deletes the key.
// Its reply is not checked, so a 0 (the key is gone) still counts as acquired. Env.TTL is sent in whole seconds.
var setNXExpire = lock.Entry{
	ID:      "setnx-expire",
	Family:  lock.TwoSteps,
	Article: "004-A",
	Also:    []string{"003-B"},
	Year:    2009,
	Server:  lock.OnRedis(1),
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New:     withValue("1", setnxThenExpire, silent(delBlind)),
}
