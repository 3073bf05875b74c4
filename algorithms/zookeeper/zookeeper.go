// Package zookeeper has locks on a ZooKeeper: the queues of its recipes, and the locks of
// Curator that are built on them. [OnConn] makes a session from a real client.
//
// Every lock is one [lock.Entry]. The comment of it, or of its type, names the year and the source, what the lock was
// meant to fix, how it fails, and where this implementation differs from the source. A new lock is one file and one
// line in [All]. Most locks are a place in a queue: an ephemeral sequential znode under that of the key.
package zookeeper

import "locklab/algorithms/lock"

// What a search of a lock looks at where it is not the usual, see [lock.Search].
var (
	noUses   = lock.Search{NoUses: true}
	onlyOnce = lock.Search{Once: true, NoUses: true}
)

// All returns the locks on a ZooKeeper, each after the one that it was meant to fix. The caller may change the slice.
func All() []lock.Entry {
	return []lock.Entry{
		// To check and to wait in line show nothing else.
		naiveQueue.Searched(noUses),
		herdQueue.Searched(noUses),
		checkedQueue.Searched(noUses),
		protectedQueue.Searched(noUses),
		reentrantMutex.Searched(noUses),
		// Two attempts have no end; to wait in line finds a DEADLOCK in lockstep.
		nonReentrantMutex.Searched(lock.Search{Once: true, NoUses: true,
			Beside: &lock.Search{Lockstep: true, Once: true}}),
		// Two attempts have no end. Three clients, which it takes to be one too many, are searched in lockstep, and
		// without faults: one pause makes more than ten million states.
		semaphore.Searched(lock.Search{Once: true, NoUses: true,
			Beside: &lock.Search{Lockstep: true, Once: true, NoUses: true, NoFaults: true, Clients: 3}}),
		// To check and to wait in line show nothing else.
		writeLock.Searched(noUses),
		// A reader and a writer are not alike: two attempts have too many states.
		readLock.Searched(onlyOnce),
		// It queues twice: two attempts have no end.
		multiLock.Searched(onlyOnce),
	}
}
