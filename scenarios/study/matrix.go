package study

import (
	"context"
	"slices"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
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
func Matrix(ctx context.Context, locks []lock.Entry, scs []race.Scenario, runs int, keep func(lock.Entry) bool, done func(n int)) ([][]*race.Outcome, error) {
	cells := make([][]*race.Outcome, len(scs))
	for i := range cells {
		cells[i] = make([]*race.Outcome, len(locks))
	}
	var company race.Runner
	err := Each(ctx, len(scs)*len(locks), done, func(i int) error {
		sc, l := i/len(locks), i%len(locks)
		o, err := company.Play(locks[l], scs[sc], scs[sc].Settings)
		if err != nil {
			return err
		}
		cells[sc][l] = o // the story stands, however far the counting comes
		if keep != nil && !keep(locks[l]) {
			o.History = nil
		}
		return count(ctx, o, runs)
	})
	return cells, err
}

// count plays the outcome's cell with further seeds.
func count(ctx context.Context, o *race.Outcome, runs int) error {
	if o.NotApplicable != "" || runs == 0 {
		return nil
	}
	p, err := o.Scenario.Prepare(o.Strategy, o.Settings)
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
		run, err := p.Player.Play(p.Options(s))
		if err != nil {
			return err
		}
		o.Runs++
		if slices.ContainsFunc(verdict.Judge(p.History(run, s)).Verdicts, verdict.Word.Harm) {
			o.Broken++
		}
	}
	return nil
}
