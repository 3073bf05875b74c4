package locktest

import (
	"context"
	"flag"
	"time"

	"locklab/simulator/bubble"
)

// timeFlag is Bounds.MaxTime of tests that do not give one.
var timeFlag = flag.Duration("locklab.time", time.Minute, "end a search for which processors have worked so long, unless its Bounds.MaxTime is given; 0: never")

// within returns ctx, which ends with the cause context.DeadlineExceeded when processors have worked for so long; 0 or below: it does not.
func within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if most > 0 {
		end, look := bubble.Worked()+most, time.NewTicker(100*time.Millisecond)
		go func() {
			defer look.Stop()
			for bubble.Worked() < end {
				select {
				case <-look.C:
				case <-ctx.Done():
					return
				}
			}
			cancel(context.DeadlineExceeded)
		}()
	}
	return ctx, func() { cancel(nil) }
}
