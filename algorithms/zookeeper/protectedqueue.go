package zookeeper

import (
	"context"
	"time"

	"locklab/algorithms/lock"
)

var protectedQueue = naiveQueue.Variant("zk-protected", 2011,
	func(env lock.Env) lock.Lock { return queuer{newProtectedQueue(env)} })

// ProtectedQueue is a [checkedQueue] with a GUID in the name of each place, so that a client finds its place in the
// queue after the answer to create was lost. (2011: in Curator since October, as withProtection since 1.1.10 of May
// 2012; and in the recipe by April 2012, after ZOOKEEPER-1262.)
//
// It was meant to fix the place that its owner does not know.
//
// How it fails: after a pause, like checkedQueue. If the search for the place fails too, the place exists until the
// session ends. And where the ensemble gives the same number to all places (see checkedQueue), different names make
// create succeed: the order is then that of the GUIDs, and a newcomer may sort before the holder.
//
// Ours takes the GUID from Env.Tokens, and searches once: if it finds no place the attempt fails. It is the recipe's: a
// failed deletion is not repeated. Curator's locks here repeat it in the background; see guaranteedSession.
type ProtectedQueue struct {
	zk     lock.ZooKeeper
	clock  lock.Clock
	tokens lock.Tokens
}

func newProtectedQueue(env lock.Env) *ProtectedQueue {
	return &ProtectedQueue{env.ZooKeeper, env.Clock, env.Tokens}
}

// newCuratorQueue is a ProtectedQueue whose deletions are guaranteed, as in all locks of Curator.
func newCuratorQueue(env lock.Env) *ProtectedQueue {
	env.ZooKeeper = &guaranteedSession{env.ZooKeeper, env.Clock}
	return newProtectedQueue(env)
}

// Await is a [lock.Queuer]'s. After an error it is unknown whether a place was created only if its search failed too.
func (s *ProtectedQueue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	own, err := s.await(ctx, lockPath(key), placeName, newDeadline(s.clock, patience), placeBefore)
	if err != nil {
		return nil, err
	}
	return own.fenced(ctx)
}

// await joins the queue under parent with a protected place called name, and waits until no other place blocks it. If
// it fails it leaves no place behind, unless the ensemble does not answer.
func (s *ProtectedQueue) await(ctx context.Context, parent, name string,
	deadline *deadline, blocker blocker) (*place, error) {
	own, err := join(ctx, s.zk, parent, s.tokens.Token(), name)
	if err != nil {
		return nil, err
	}
	if err := own.awaitUnblocked(ctx, deadline, blocker); err != nil {
		return nil, own.leave(ctx, err)
	}
	return own, nil
}
