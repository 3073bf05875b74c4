package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// tokenLock creates the key together with its TTL, in one command, and writes a unique value by which it recognises its
// own lock. (2013: SET has had NX and PX since Redis 2.6.12 of March 2013; scripts are a little older. Article 002-C,
// which also prints EX 5; 002-D uses it on a master with a replica.)
//
// It was meant to fix both failures of setnx-expire: the gap between SETNX and EXPIRE, and the DEL of a successor's
// lock. Unlike [GetSet] it does not depend on the clients' clocks, only on the server's.
//
// How it fails: a holder that works or pauses for longer than the TTL does not notice that it has lost the lock, and
// shares the critical section with its successor until it releases. The token protects the successor's key, not the
// resource. A failover to a replica that has not received the key grants the lock twice. If the reply to SET is lost,
// the creator does not know that the key is its own, and it stays until the TTL ends. And everything depends on unique
// tokens: the article draws a random integer, other implementations wrote the thread id.
//
// Ours takes a token of Env.Tokens for each Acquire, Env.TTL in whole milliseconds. Nothing renews it; see [Watchdog].
var tokenLock = lock.Entry{
	ID:      "token",
	Family:  lock.OneStep,
	Article: "002-C",
	Also:    []string{"002-D"},
	Year:    2013,
	Server:  lock.OnRedis(1),
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	New:     withToken(setNXPX, reporting(compareAndDelete)),
}
