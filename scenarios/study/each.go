package study

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// each does n pieces of work on all cores. Which core does which does not show:
// every piece writes to a place of its own.
func Each(ctx context.Context, n int, done func(n int), do func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next, finished atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(i); err != nil {
					return err
				}
				if k := finished.Add(1); done != nil {
					done(int(k))
				}
			}
		})
	}
	return group.Wait()
}
