package zookeeper

import (
	"context"
	"fmt"
	"time"

	"locklab/algorithms/lock"
)

// A deadline is the end of an Await's patience, on the client's own clock.
type deadline struct {
	clock lock.Clock
	left  time.Duration
	end   time.Time
}

// newDeadline is patience from now. Without patience, and without end, it does not read the clock.
func newDeadline(clock lock.Clock, patience time.Duration) *deadline {
	if patience <= 0 || patience == lock.Forever {
		return &deadline{left: max(patience, 0)}
	}
	return &deadline{clock, patience, clock.Now().Add(patience)}
}

// check returns ErrNotAcquired if no time was left after the last await.
func (d *deadline) check() error {
	if d.left <= 0 {
		return lock.ErrNotAcquired
	}
	return nil
}

// await blocks until watch fires. It returns ErrNotAcquired if the deadline passes first.
func (d *deadline) await(ctx context.Context, watch lock.Watch) error {
	fired, err := watch.Wait(ctx, d.left)
	if d.clock != nil {
		d.left = d.end.Sub(d.clock.Now())
	}
	switch {
	case err != nil:
		return fmt.Errorf("zookeeper: waiting in the queue: %w", err)
	case !fired:
		return lock.ErrNotAcquired
	}
	return nil
}
