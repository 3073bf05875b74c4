package zookeeper

import "locklab/algorithms/lock"

// All returns the strategies that lock on a ZooKeeper, in the order in
// which one was meant to mend another. The caller may change the slice.
func All() []lock.Entry {
	return []lock.Entry{
		naiveQueue,
		herdQueue,
		checkedQueue,
		protectedQueue,
		reentrantMutex,
		nonReentrantMutex,
		semaphore,
		writeLock,
		readLock,
		multiLock,
	}
}
