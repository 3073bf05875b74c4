package study

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Each calls do for 0 to n-1, on all cores and in any order. done is called with the
// number of calls that have returned, from several goroutines; it may be nil. The first
// error ends the rest; when ctx ends, the error is ctx's.
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
