package locktest

import (
	"context"
	"flag"
	"syscall"
	"time"
)

// timeFlag is Bounds.MaxTime of tests that do not give one.
var timeFlag = flag.Duration("locklab.time", time.Minute, "end a search for which processors have worked so long, unless its Bounds.MaxTime is given; 0: never")

// worked returns for how long processors have worked for this process: other work on the machine does not count.
func worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// within returns ctx, which ends with the cause context.DeadlineExceeded when processors have worked for so long; 0 or below: it does not.
func within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if most > 0 {
		end, look := worked()+most, time.NewTicker(100*time.Millisecond)
		go func() {
			defer look.Stop()
			for worked() < end {
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
