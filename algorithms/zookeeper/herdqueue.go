package zookeeper

import "context"

// herdQueue watches the whole queue, and reads it again after each change. (2010: section 2.4 of the USENIX paper on
// ZooKeeper shows the herd effect without a queue, and the queue as the fix. This is the queue without the fix.)
//
// It was meant to fix [naiveQueue]: a wake-up says that something has changed, and nothing more.
//
// How it fails: of n waiters that wake up at each release, n-1 do so without effect, and all of them do
// whenever a client joins. Its other failures are those of [checkedQueue].
var herdQueue = naiveQueue.Variant("zk-herd", 2010, waitingBy(awaitFirstPlace))

func awaitFirstPlace(ctx context.Context, own *place, deadline *deadline) error {
	return own.awaitQueue(ctx, deadline, func(_ []string, i int) bool { return i == 0 })
}
