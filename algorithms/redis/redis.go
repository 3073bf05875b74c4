// Package redis has the locks that people have built on Redis, each in the form in which it was published.
//
// Every lock is one [lock.Entry]. Its comment, or that of its type, names the year and the source, what the lock was
// meant to fix, how it fails, and where this implementation differs from the source. A new lock is one file and one
// line in [All]. Most locks are a [KeyLock] with other commands.
package redis

import "locklab/algorithms/lock"

// What a search of a lock looks at where it is not the usual, see [lock.Search]: mostly since that has too many states.
var (
	once     = lock.Search{Once: true}
	noUses   = lock.Search{NoUses: true}
	onlyOnce = lock.Search{Once: true, NoUses: true}
	// With a second search, of what the first leaves out and what shows something else.
	deletes   = lock.Search{Once: true, Beside: &lock.Search{NoFaults: true}}
	usesOnce  = lock.Search{NoUses: true, Beside: &once}
	onServers = lock.Search{Once: true, NoUses: true, Beside: &lock.Search{Once: true, Few: true}}
	extends   = lock.Search{Once: true, NoUses: true, Beside: &lock.Search{Once: true, Few: true, Most: 500_000}}
)

// All returns the locks that lock on Redis, ordered by year; of one year, a lock comes after the one that it was meant
// to fix. The first predates Redis. The caller may change the slice.
func All() []lock.Entry {
	return []lock.Entry{
		mutex,
		setNX,
		setNXExpire,
		// They read a clock: two attempts have no end.
		takeoverDel.Searched(once),
		// Two attempts delete another's lock without a fault.
		getSetTimeout.Searched(deletes),
		getSetTimeoutMS.Searched(deletes),
		getSetNil.Searched(deletes),
		// They read a clock: two attempts have no end.
		getSetRetry.Searched(once),
		getSetRetryMS.Searched(once),
		// It reads a clock once more to check.
		getSetCheck.Searched(onlyOnce),
		// They read a clock: two attempts have no end.
		getSet.Searched(once),
		cronV2.Searched(once),
		cronV3.Searched(once),
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
		// To enter again leaves an orphan without a fault.
		reentrantIncrement.Searched(usesOnce),
		reentrantDecrement,
		// To enter again shows nothing else.
		reentrantForget.Searched(noUses),
		reentrantRefused.Searched(noUses),
		reentrantKeyed,
		// To enter again lets two in without a fault.
		reentrantAsking.Searched(usesOnce),
		reentrantCounted,
		// It reads a clock while it waits: one attempt has no end at any timing.
		spin.Searched(lock.Search{Lockstep: true}),
		// It reads a clock while it waits, unless it is refused at once.
		spinReentrant.Searched(onlyOnce),
		// Its threads that renew live on and pile up: no search of it is complete.
		daemon20.Searched(lock.Search{Lockstep: true, Most: 1_000_000}),
		daemon29,
		daemon10,
		// To renew by hand, too, shows nothing else.
		daemon20Owned.Searched(noUses),
		daemon29Owned.Searched(noUses),
		daemon10Owned.Searched(noUses),
		watchDel,
		// With a thread that renews all other uses have too many states.
		watchdog.Searched(noUses),
		redissonLease.Searched(noUses),
		redissonLock.Searched(noUses),
		// Two attempts on several servers have no end; to check on three of them finds a LIE.
		redlock.Searched(onServers),
		redlockDrift.Searched(onServers),
		// To extend besides has too many states on three servers, too: the LIE comes early.
		redlockExtend.Searched(extends),
		// Requests to five servers at once come in very many orders: no search of it is complete.
		redlockParallel.Searched(lock.Search{Lockstep: true, NoUses: true, Most: 1_000_000}),
		// To check finds a LIE.
		lockDelay.Searched(usesOnce),
		tokenWait,
		evalSHA,
		evalSHAOrEval,
		queue,
		atLeastFor,
		// It waits for a replica, too.
		redissonWait.Searched(onlyOnce),
		// With a thread that renews all other uses have too many states.
		redissonRetry.Searched(noUses),
		redissonEntry.Searched(noUses),
		// It reads a clock: two attempts have no end.
		clientExpiry.Searched(once),
		// With a thread that renews all other uses have too many states.
		redissonFenced.Searched(noUses),
		// Two attempts on several servers have no end; to check on three of them finds a LIE.
		redlockFailFast.Searched(onServers),
		// With a thread that renews all other uses have too many states.
		redissonRearm.Searched(noUses),
		// Two attempts on several servers have no end; to check on three of them finds a LIE.
		redlockTopUp.Searched(onServers),
		delIfEq,
		delEx,
		// To renew by hand, too, shows nothing else.
		setIfEq.Searched(noUses),
		redislockFence,
	}
}
