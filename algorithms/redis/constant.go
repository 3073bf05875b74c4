package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// constant creates the key together with its TTL, in one command, and writes the same value for every client. (2013:
// SET has had NX, EX and PX since Redis 2.6.12 of March 2013. Article 001-B; 002-B uses 5 s, 004-B writes 1.)
//
// It was meant to fix the gap between the two commands of setnx-expire.
//
// How it fails: DEL does not check the owner. A holder that works or pauses for longer than the TTL shares the critical
// section with its successor, then deletes the successor's key and lets a third client in.
//
// Ours is the article's, with the words of SET in the order in which Spring's setIfAbsent sends them.
var constant = lock.Entry{
	ID:      "constant",
	Family:  lock.OneStep,
	Article: "001-B",
	Also:    []string{"002-B", "004-B"},
	Year:    2013,
	Server:  lock.OnRedis(1),
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New:     withValue("binghe", setNXEX, silent(delBlind)),
}
