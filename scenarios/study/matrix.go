package study

import (
	"context"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
)

// Matrix plays every lock in every race, on all cores, with its own settings. Cells come by race, then lock, as given.
//
// show is called with each run while it has its history, with the lines of the lock's code, from several goroutines;
// then the history, which takes much memory, is dropped. nil: all histories are kept, without lines. w computes the
// tasks, a cell each. When ctx ends, the cells that are not finished are nil and the error is ctx's.
func Matrix(ctx context.Context, locks []lock.Entry, scs []race.Race, show func(*race.Outcome),
	w *share.Work) ([][]*race.Outcome, error) {
	runner := race.Runner{Lines: show != nil}
	tasks := make([]share.Task, len(scs)*len(locks))
	found, err := share.Each(ctx, tasks, w, func(_ context.Context, i int) (*race.Outcome, error) {
		sc := scs[i/len(locks)]
		o, err := runner.Play(locks[i%len(locks)], sc, sc.Settings)
		if err == nil && show != nil {
			show(o)
			o.History = nil
		}
		return o, err
	})
	cells := make([][]*race.Outcome, len(scs))
	for i, o := range found {
		cell := (*race.Outcome)(nil)
		if o != nil {
			cell = *o
		}
		cells[i/len(locks)] = append(cells[i/len(locks)], cell)
	}
	return cells, err
}
