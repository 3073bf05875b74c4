package redis

import "locklab/algorithms/lock"

// Other methods and versions of Redisson's RLock: each is [Watchdog] with one change. For lock() see [RedissonLock].

// redissonLease is lock(leaseTime, unit): a caller that passes a lease time gets no watchdog. (2014, as watchdog.)
//
// It was meant to fix the holder that hangs and holds the lock for ever.
//
// How it fails: with work that takes longer than the lease, as with token. A caller that
// passes a lease time to be on the safe side has switched the watchdog off.
var redissonLease = watchdog.Variant("redisson-lease", 2014, changedWatchdog(func(s *Watchdog) { s.noRenewal = true }))

// redissonWait sends every script together with a WAIT for one replica and one second. (2020: Redisson 3.12.5, April.)
//
// It was meant to fix the failover to a replica that has not received the key.
//
// How it fails: nothing checks what WAIT returns. A lock that no replica acknowledged within the second is held too.
//
// Redisson waits for as many replicas as it knows of, and sends no WAIT if there are none.
// Ours always waits for one, since Env does not say how many there are.
var redissonWait = watchdog.Variant("redisson-wait", 2020,
	changedWatchdog(func(s *Watchdog) { s.waits = true })).Changed(replicated)

// redissonRetry sends a script again to which no answer came, up to three times. (2020: Redisson 3.12.5, RedisExecutor,
// with the defaults retryAttempts 3, retryInterval 1.5 s and timeout 3 s. Since 3.37.0 of 2024 it does so for renewals
// only; retryAttempts is 4 in 4.7.0.) All other locks here leave the retries out.
//
// It was meant to fix the lost packet: a renewal, a release or an acquire that did not arrive.
//
// How it fails: the acquire script is not idempotent. If it was run and its answer lost, the second one enters again:
// the count is two, the holder knows of one, and after its release the key keeps an owner that does not renew it, until
// the TTL ends. And a release whose answer is lost says that the lock was not held.
//
// Ours sends again at once after a time-out, as that version does, and after 1.5 s when the connection broke.
var redissonRetry = watchdog.Variant("redisson-retry", 2020, changedWatchdog(func(s *Watchdog) { s.resends = 3 }))

// redissonEntry has one watchdog for each key of a process, and an entry in a map that says that it exists. (2020:
// Redisson 3.12.5; issues 2515, 3194 and 3712. Since 3.14.0 of November 2020 a failed renewal removes the entry.)
//
// It was meant to avoid a second watchdog when a thread enters again.
//
// How it fails: a failed renewal ends the watchdog and leaves the entry. If the holder does not unlock (an exception,
// no finally block), the process's next lock of that key finds the entry and starts no watchdog: nothing renews it.
var redissonEntry = watchdog.Variant("redisson-entry", 2020,
	changedWatchdog(func(s *Watchdog) { s.entries = map[string]*watched{} }))

// redissonRearm renews again after a failed renewal. (2025: Redisson 3.44.0.)
//
// It was meant to fix the watchdog that ends after one lost packet. Now only the answer that
// the lock is not the caller's ends it. How it fails: as [Watchdog] otherwise.
var redissonRearm = watchdog.Variant("redisson-rearm", 2025, changedWatchdog(func(s *Watchdog) { s.rearms = true }))

// changedWatchdog makes a Watchdog and changes it.
func changedWatchdog(change func(s *Watchdog)) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock {
		s := newWatchdog(env)
		change(s)
		return s
	}
}
