package scenarios

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"locklab/algorithms"
	"locklab/simulator/verdict"
)

// Matrix plays every lock in every scenario, on all cores, with the scenarios'
// own numbers, and each cell runs times more with the seeds from 1 on. Cells
// come back by scenario, then by lock, in the given order.
//
// keep says of which locks the histories are kept, which take much memory; nil: of
// all. done is told how many cells are finished, from several goroutines; nil:
// nobody asks. When ctx ends, the cells that are not finished are nil and the error is
// ctx's.
func Matrix(ctx context.Context, locks []algorithms.Entry, scs []Scenario, runs int, keep func(algorithms.Entry) bool, done func(n int)) ([][]*Outcome, error) {
	cells := make([][]*Outcome, len(scs))
	for i := range cells {
		cells[i] = make([]*Outcome, len(locks))
	}
	var company Company
	err := each(ctx, len(scs)*len(locks), done, func(i int) error {
		sc, l := i/len(locks), i%len(locks)
		o, err := company.Play(locks[l], scs[sc], scs[sc].Settings)
		if err != nil {
			return err
		}
		cells[sc][l] = o // the story stands, however far the counting comes
		if keep != nil && !keep(locks[l]) {
			o.History = nil
		}
		return o.count(ctx, runs)
	})
	return cells, err
}

// count plays the outcome's cell with further seeds.
func (o *Outcome) count(ctx context.Context, runs int) error {
	if o.NotApplicable != (Text{}) || runs == 0 {
		return nil
	}
	p, err := o.Scenario.stage(o.Strategy, o.Settings)
	if err != nil {
		return err
	}
	defer p.Close()
	for seed := range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := o.Settings
		s.Seed = uint64(seed + 1)
		run, err := p.player.Play(p.options(s))
		if err != nil {
			return err
		}
		o.Runs++
		if slices.ContainsFunc(verdict.Judge(p.history(run, s)).Verdicts, verdict.Word.Harm) {
			o.Broken++
		}
	}
	return nil
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
