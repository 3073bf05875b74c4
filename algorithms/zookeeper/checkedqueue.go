package zookeeper

import "context"

// checkedQueue watches the place before its own, and reads the queue again when it is woken.
// (2008: the recipe "Locks" of ZooKeeper's documentation.)
//
// It was meant to fix [naiveQueue], which takes a wake-up for the lock, and [herdQueue], which
// wakes everybody: here the end of a place wakes one client.
//
// How it fails, like every lock that depends on a session:
//   - A holder that pauses for longer than its session time-out does not notice that its place
//     is gone, and shares the critical section with the next one. The fencing token protects the
//     resource if the resource checks it; nothing else does. "No deadlock" and "absolutely
//     correct" depend on the same time-out.
//   - The answer to create is lost. The place exists but its owner does not know it, joins once
//     more, and waits for its own place for as long as its session lives.
//   - The numbers run out. ZooKeeper's guide says that the counter overflows after 2147483647;
//     the next place then has the lowest number, and its client enters although the holder is
//     still inside. The server 3.8 stays at 2147483647 instead: as long as one place exists, it
//     refuses all others of that name with "node exists". It is still a lock but no longer a
//     queue, until the parent is created anew.
var checkedQueue = naiveQueue.Variant("zk-recheck", 2008, waitingBy(awaitPlaceBefore))

func awaitPlaceBefore(ctx context.Context, own *place, deadline *deadline) error {
	return own.awaitUnblocked(ctx, deadline, placeBefore)
}
