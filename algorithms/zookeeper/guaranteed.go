package zookeeper

import (
	"context"
	"errors"
	"strings"
	"time"

	"locklab/algorithms/lock"
)

// A guaranteedSession is a session of Curator's client: what it could not delete, it goes on
// deleting in the background, until the ensemble has answered or the session has ended. (2012:
// delete().guaranteed() in February, which LockInternals and InterProcessSemaphoreV2 use. Read in
// Curator 5.9.0: DeleteBuilderImpl, FailedDeleteManager, FindAndDeleteProtectedNodeInBackground.)
//
// Ours lets the caller's RetryPolicy, without which Curator makes no client, allow no retry in the foreground: the
// caller gets the error of the first failure. The background sends the deletion at once, and after a failure every
// second. A request waits for the connection to be back; Curator's background looks every second whether it is.
type guaranteedSession struct {
	lock.ZooKeeper
	clock lock.Clock
}

// backgroundPeriod is sleepAndQueueOperationSeconds.
const backgroundPeriod = time.Second

// Delete is a deletion whose error says only that the first attempt has failed.
func (s *guaranteedSession) Delete(ctx context.Context, path string) error {
	err := s.ZooKeeper.Delete(ctx, path)
	if !answered(err) {
		s.inBackground(0, func() error { return s.ZooKeeper.Delete(context.WithoutCancel(ctx), path) })
	}
	return err
}

// findAndDelete deletes, in the background, the child of parent whose name begins with prefix.
func (s *guaranteedSession) findAndDelete(ctx context.Context, parent, prefix string) {
	ctx = context.WithoutCancel(ctx)
	s.inBackground(0, func() error {
		names, err := s.Children(ctx, parent)
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				return s.ZooKeeper.Delete(ctx, parent+"/"+name)
			}
		}
		return err
	})
}

// inBackground calls send after d, in a thread of its own, and then every second until it is answered.
func (s *guaranteedSession) inBackground(d time.Duration, send func() error) {
	s.clock.AfterFunc(d, func() {
		if !answered(send()) {
			s.inBackground(backgroundPeriod, send)
		}
	})
}

// answered reports whether err leaves nothing to be done: the ensemble has answered, or has ended the
// session, and all its ephemeral znodes with it.
func answered(err error) bool {
	return err == nil || errors.Is(err, lock.ErrNoNode) || errors.Is(err, lock.ErrSessionEnded)
}
