package redis

import "locklab/algorithms/lock"

// All returns the strategies that lock on Redis, or did before there was one, in
// the order in which one was meant to mend another, the oldest first. The caller may
// change the slice.
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
		setNXEX,
		threadID,
		threadIDLua,
		tokenLock,
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
		spinning,
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
		redissonEntry,
		clientExpiry,
		redlockFailFast,
		redissonRearm,
		redlockTopUp,
		delIfEq,
		delEx,
		setIfEq,
	}
}

// Milestones returns the locks on which the story turns, each the answer to a
// fall of one before it. The caller may change the slice.
func Milestones() []lock.Entry {
	return []lock.Entry{setNX, setNXExpire, getSet, tokenLock, watchdog, redlock}
}
