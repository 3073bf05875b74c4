// Package redis has the locks that people have built on Redis, each in the form in
// which it was published.
//
// Every lock is one [lock.Entry]. Its comment, or that of its type, names the year
// and the source, what the lock was meant to fix, how it fails, and where this
// implementation differs from the source. A new lock is one file and one line in
// [All]. Most locks are a [KeyLock] with other commands.
package redis

import "locklab/algorithms/lock"

// All returns the strategies that lock on Redis, ordered by year; of one year, a lock
// comes after the one that it was meant to fix. The first predates Redis. The caller
// may change the slice.
func All() []lock.Entry {
	return []lock.Entry{
		mutex,
		setNX,
		setNXExpire,
		takeoverDel,
		getSetTimeout,
		getSetTimeoutMS,
		getSetNil,
		getSetRetry,
		getSetRetryMS,
		getSetCheck,
		getSet,
		cronV2,
		cronV3,
		sharded,
		constant,
		threadID,
		threadIDLua,
		tokenLock,
		shardedToken,
		naiveWake,
		watchMulti,
		threadLocal,
		reentrant,
		reentrantIncrement,
		reentrantDecrement,
		reentrantForget,
		reentrantRefused,
		reentrantKeyed,
		reentrantAsking,
		reentrantCounted,
		spin,
		spinReentrant,
		daemon20,
		daemon29,
		daemon10,
		daemon20Owned,
		daemon29Owned,
		daemon10Owned,
		watchDel,
		watchdog,
		redissonLease,
		redissonLock,
		redlock,
		redlockDrift,
		redlockExtend,
		redlockParallel,
		lockDelay,
		tokenWait,
		evalSHA,
		evalSHAOrEval,
		queue,
		atLeastFor,
		redissonWait,
		redissonRetry,
		redissonEntry,
		clientExpiry,
		redissonFenced,
		redlockFailFast,
		redissonRearm,
		redlockTopUp,
		delIfEq,
		delEx,
		setIfEq,
		redislockFence,
	}
}

// Milestones returns the six locks that mark the turning points of the history. Each
// fixes a failure of an earlier one. The caller may change the slice.
func Milestones() []lock.Entry {
	return []lock.Entry{setNX, setNXExpire, getSet, tokenLock, watchdog, redlock}
}
