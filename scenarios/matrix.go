package scenarios

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"locklab/algorithms"
)

// Matrix plays every lock in every scenario, on all cores, with the scenarios'
// own numbers. Cells come back by scenario, then by lock, in the given order.
//
// done is told how many cells are finished, from several goroutines; nil: nobody
// asks. When ctx ends, the cells that are not finished are nil and the error is
// ctx's.
func Matrix(ctx context.Context, locks []algorithms.Entry, scs []Scenario, done func(n int)) ([][]*Outcome, error) {
	cells := make([][]*Outcome, len(scs))
	for i := range cells {
		cells[i] = make([]*Outcome, len(locks))
	}
	err := each(ctx, len(scs)*len(locks), done, func(i int) (err error) {
		sc, l := i/len(locks), i%len(locks)
		cells[sc][l], err = Play(locks[l], scs[sc], scs[sc].Settings)
		return err
	})
	return cells, err
}

// each does n pieces of work on all cores. Which core does which does not show:
// every piece writes to a place of its own.
func each(ctx context.Context, n int, done func(n int), do func(i int) error) error {
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
