package redis

import "locklab/algorithms/lock"

// Other methods and versions of Redisson's RLock: each is [Watchdog] with one change. For
// lock() see [RedissonLock].

// redissonLease is lock(leaseTime, unit): a caller that passes a lease time gets no watchdog.
// (2014, as watchdog.)
//
// It was meant to fix the holder that hangs and holds the lock for ever.
//
// How it fails: with work that takes longer than the lease, as with token. A caller that
// passes a lease time to be on the safe side has switched the watchdog off.
var redissonLease = watchdog.Variant("redisson-lease", 2014,
	lock.Text{EN: "Redisson's lock with a lease time: no watchdog", ZH: "Redisson 指定租约时长的锁：不启动看门狗"},
	changedWatchdog(func(s *Watchdog) { s.noRenewal = true }))

// redissonWait sends every script together with a WAIT for one replica and one second.
// (2020: Redisson 3.12.5, April.)
//
// It was meant to fix the failover to a replica that has not received the key.
//
// How it fails: nothing checks the number that WAIT returns. A lock that no replica has
// acknowledged within the second is held like any other.
//
// Redisson waits for as many replicas as it knows of, and sends no WAIT if there are none.
// Ours always waits for one, since Env does not say how many there are.
var redissonWait = replicated(watchdog.Variant("redisson-wait", 2020,
	lock.Text{EN: "Redisson 3.12.5: WAIT with every script, its answer ignored", ZH: "Redisson 3.12.5：每段脚本都带 WAIT，却不看它的返回值"},
	changedWatchdog(func(s *Watchdog) { s.waits = true })))

// redissonEntry has one watchdog for each key of a process, and an entry in a map that says
// that it exists. (2020: Redisson 3.12.5; issues 2515, 3194 and 3712. Since 3.14.0 of
// November 2020 a failed renewal removes the entry.)
//
// It was meant to avoid a second watchdog when a thread enters again.
//
// How it fails: a failed renewal ends the watchdog and leaves the entry. If the holder does
// not unlock (an exception, no finally block), the next lock of that key in that process
// finds the entry and starts no watchdog: the lease ends without a renewal.
var redissonEntry = watchdog.Variant("redisson-entry", 2020,
	lock.Text{EN: "Redisson 3.12.5: a failed renewal leaves the next lock without a watchdog", ZH: "Redisson 3.12.5：一次续期失败，下一次加锁就没有看门狗了"},
	changedWatchdog(func(s *Watchdog) { s.entries = map[string]*watched{} }))

// redissonRearm renews again after a failed renewal. (2025: Redisson 3.44.0.)
//
// It was meant to fix the watchdog that ends after one lost packet. Now only the answer that
// the lock is not the caller's ends it. How it fails: as [Watchdog] otherwise.
var redissonRearm = watchdog.Variant("redisson-rearm", 2025,
	lock.Text{EN: "Redisson since 3.44: a failed renewal is tried again", ZH: "Redisson 3.44 起：续期失败会再试"},
	changedWatchdog(func(s *Watchdog) { s.rearms = true }))

// changedWatchdog makes a Watchdog and changes it.
func changedWatchdog(change func(s *Watchdog)) func(lock.Env) lock.Strategy {
	return func(env lock.Env) lock.Strategy {
		s := newWatchdog(env)
		change(s)
		return s
	}
}
