package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// redlockDrift subtracts a drift term from the validity, 1 % of the TTL and 2 ms, for clocks
// that run at different rates. (2014: in antirez's first implementation, and in the manual.)
//
// It was meant to fix such clocks, as long as they differ by no more than the term. It fails as redlock does otherwise.
var redlockDrift = redlock.Variant("redlock-drift", 2014, withDrift(func(*Redlock, lock.Env) {}))

// redlockExtend is redlock-drift with a holder that can extend its lease, on a majority and
// within the validity. (2014: the manual, "making the algorithm more reliable".)
//
// It was meant to fix work that takes longer than the validity. It extends only keys that the holder still has: it does
// not create a missing key again, and takes nothing back if it misses the majority, since the lease may still be valid.
//
// How it fails: as redlock-drift. The manual limits the number of extensions, because otherwise
// a holder that hangs holds the lock for ever; here the caller of Renew has to do that.
var redlockExtend = redlock.Variant("redlock-extend", 2014,
	withDrift(func(s *Redlock, _ lock.Env) { s.extends = true }))

// redlockTopUp is redlock-drift that, after it has a majority, asks the other servers once
// more. (2025: proposed in issue 186 of redsync, in July.)
//
// It was meant to fix the bare majority: the holder of three out of five keys loses its
// majority if one server restarts empty. With five keys three have to.
//
// How it fails: as redlock-drift. Servers that are held by another client, or down, at that moment are not topped up.
var redlockTopUp = redlock.Variant("redlock-topup", 2025, withDrift(func(s *Redlock, _ lock.Env) { s.topsUp = true }))

// redlockParallel is redlock-drift that asks all servers at once, and also takes back from all at once. (2014: the
// manual, "retry on failure": ideally the SET commands are sent at the same time, with multiplexing.)
//
// It was meant to fix two things. An attempt takes as long as all servers together instead of as long as the slowest
// one, which leaves less of the validity and delays the clients that compete for the same majority. And slow attempts
// of several clients collide, since all of them are incomplete for so long.
//
// How it fails: as redlock-drift. And if all clients ask in the same order, the first server acts as a gate, since a
// client that is refused there rarely gets a majority. Asked at once, servers are won in any order, so that two clients
// can split the votes if one server is down, and three can even if none is.
var redlockParallel = redlock.Variant("redlock-parallel", 2014,
	withDrift(func(s *Redlock, env lock.Env) { s.parallel = env.Parallel }))

// redlockFailFast is redlock-drift that stops asking when a majority can no longer be reached.
// (2023: the option WithFailFast of redsync, pull request 133.)
//
// It was meant to fix failed attempts that continue: each server that does not answer costs its time-out, and for that
// time the keys that the attempt has collected keep other clients from their majority.
//
// It fails as redlock-drift does. redsync asks all servers at once and also stops as soon as it
// has a majority; here they are asked in turn, and a successful attempt asks all of them.
var redlockFailFast = redlock.Variant("redlock-failfast", 2023,
	withDrift(func(s *Redlock, _ lock.Env) { s.spare = len(s.nodes) - s.quorum() }))

// withDrift makes a Redlock with the drift term and changes it.
func withDrift(change func(s *Redlock, env lock.Env)) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock {
		s := newRedlock(env)
		s.drift = env.TTL/100 + 2*time.Millisecond
		change(s, env)
		return s
	}
}
