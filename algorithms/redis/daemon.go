package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// Locks with a daemon: a thread of the holder's process that renews the TTL while the holder works. They differ in when
// it renews and in whether it checks the owner of the key. [Watchdog] is Redisson's.
//
// How all of them fail: the first failed renewal is the last one, because the error ends the thread, and the holder is
// not told. A pause of the process pauses the daemon too. A holder that hangs holds the lock for ever.
//
// If Env.TTL is not the article's, ours keep the article's proportions, rounded down to a millisecond.

// daemon20 is constant with a child thread that sets the TTL to 30 s every 20 s. (2013,
// when constant could first be written. Article 001-C.)
//
// It was meant to fix work that takes longer than the TTL.
//
// How it fails: as all of these do. And nothing ends the thread, and it does not check the owner: as long as its
// process lives it keeps any key of that name alive, even that of a successor which has crashed.
//
// Ours starts one thread for each key: at the first Acquire, or at the next one after an error has ended the thread.
var daemon20 = constant.Variant("daemon-20", 2013,
	func(env lock.Env) lock.Lock {
		plan := renewEvery(env, 20, expireBlind)
		plan.endless = true
		return newKeyLock(env, always("binghe"), createFunc(setNXEX), silent(delBlind)).renewed(plan)
	}).InArticle("001-C").Changed(func(e *lock.Entry) { e.Family = lock.Renewed })

// daemon29 is thread-id-lua with a daemon that sets the TTL to 20 s after 29 of 30 s, then every 20 s. (004-E, 2013.)
//
// It was meant to fix work that takes longer than the TTL.
//
// How it fails: from the second one on, each renewal is sent when the TTL ends, without any margin: the time that the
// message takes is already too long. The daemon does not check the owner, so a late one shortens a successor's TTL from
// 30 s to 20. A daemon that is not closed, after an exception, keeps the key for the life of the process.
//
// Ours stops the daemon before it deletes the key.
var daemon29 = daemon20.Variant("daemon-29", 2013,
	func(env lock.Env) lock.Lock { return threadIDRenewed(env, renewAt29(env, expireBlind)) }).InArticle("004-E")

// daemon10 is daemon-29 with [Watchdog]'s period, a third of the TTL: the margin is 20 s. It still checks no owner.
var daemon10 = daemon20.Variant("daemon-10", 2013,
	func(env lock.Env) lock.Lock { return threadIDRenewed(env, renewEvery(env, 10, expireBlind)) })

// threadIDRenewed makes the lock of [threadIDLua] with a daemon.
func threadIDRenewed(env lock.Env, plan renewalPlan) lock.Lock {
	return newKeyLock(env, always(env.Thread), createFunc(setNXEX), reporting(compareAndDelete)).renewed(plan)
}

// daemon10Owned is daemon-10 with a unique token, and with a script that renews the TTL only if the key holds it.
// (2013, as daemon-10.) It is [Watchdog] without the hash, and what most libraries do.
//
// It was meant to fix the renewal of a successor's key. It fails as all of these do.
var daemon10Owned = daemon20.Variant("daemon-10-owned", 2013,
	renewedByOwner(reporting(compareAndDelete),
		func(env lock.Env) renewalPlan { return renewEvery(env, 10, compareAndExpire) })).
	Changed(func(e *lock.Entry) { e.Unit = time.Millisecond })

// daemon20Owned and daemon29Owned are daemon-10-owned with the periods of daemon-20 and daemon-29.
var (
	daemon20Owned = daemon10Owned.Variant("daemon-20-owned", 2013,
		renewedByOwner(reporting(compareAndDelete),
			func(env lock.Env) renewalPlan { return renewEvery(env, 20, compareAndExpire) }))
	daemon29Owned = daemon10Owned.Variant("daemon-29-owned", 2013,
		renewedByOwner(reporting(compareAndDelete),
			func(env lock.Env) renewalPlan { return renewAt29(env, compareAndExpire) }))
)

// renewedByOwner makes a KeyLock with a unique token, whose renewal checks the owner.
func renewedByOwner(release release, plan func(lock.Env) renewalPlan) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock {
		p := plan(env)
		p.checksOwner = true
		return newKeyLock(env, env.Tokens, createFunc(setNXPX), release).renewed(p)
	}
}

// renewEvery sets the whole TTL again each time that n thirtieths of it have passed.
func renewEvery(env lock.Env, n time.Duration, send expireFunc) renewalPlan {
	every := fraction(env.TTL, n, 30)
	return renewalPlan{first: every, every: every, ttl: env.TTL, send: send}
}

// renewAt29 sets the TTL to two thirds of Env.TTL: first after 29 thirtieths of it, and then after every two thirds.
func renewAt29(env lock.Env, send expireFunc) renewalPlan {
	thirds := fraction(env.TTL, 20, 30)
	return renewalPlan{first: fraction(env.TTL, 29, 30), every: thirds, ttl: thirds, send: send}
}

// fraction is n/of of d in whole milliseconds, at least one.
func fraction(d, n, of time.Duration) time.Duration {
	return max((d * n / of).Truncate(time.Millisecond), time.Millisecond)
}
