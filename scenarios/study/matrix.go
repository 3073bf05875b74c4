package study

import (
	"context"
	"slices"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator/verdict"
)

// Matrix plays every lock in every race, on all cores, with the races' own
// settings, and then each cell runs more times with the seeds from 1 on, which it
// counts. Cells come by race, then by lock, in the given order.
//
// show is called with each story while it has its history, with the lines of the lock's code,
// from several goroutines; then the history, which takes much memory, is dropped. nil: all
// histories are kept, without lines. w computes the tasks, each a cell with a thousand of its
// further runs at most. When ctx ends, the cells
// that are not finished are nil and the error is ctx's.
func Matrix(ctx context.Context, locks []lock.Entry, scs []race.Race, runs int, show func(*race.Outcome),
	w *share.Work) ([][]*race.Outcome, error) {
	var tasks []share.Task
	parts := MatrixSteps(1, 1, runs) // of a cell
	for i := range len(scs) * len(locks) * parts {
		from, to := i%parts*runsPerTask, min((i%parts+1)*runsPerTask, runs)
		tasks = append(tasks, share.Task{Cost: cellCost + playCost*float64(to-from)})
	}
	runner := race.Runner{Lines: show != nil}
	found, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (p cellPart, err error) {
		sc, entry, from := scs[i/parts/len(locks)], locks[i/parts%len(locks)], i%parts*runsPerTask
		if from > 0 {
			p.runs, p.broken, err = count(ctx, &runner, entry, sc, from, min(from+runsPerTask, runs))
			return p, err
		}
		if p.story, err = runner.Play(entry, sc, sc.Settings); err != nil {
			return p, err
		}
		if show != nil {
			show(p.story)
			p.story.History = nil
		}
		p.runs, p.broken, err = count(ctx, &runner, entry, sc, 0, min(runsPerTask, runs))
		return p, err
	})
	cells := make([][]*race.Outcome, len(scs))
	for sc := range scs {
		cells[sc] = make([]*race.Outcome, len(locks))
		for l := range locks {
			all := found[(sc*len(locks)+l)*parts:][:parts]
			if slices.Contains(all, nil) {
				continue
			}
			o := all[0].story
			for _, p := range all {
				o.Runs += p.runs
				o.Broken += p.broken
			}
			cells[sc][l] = o
		}
	}
	return cells, err
}

// MatrixSteps returns the number of tasks of Matrix, for progress.
func MatrixSteps(locks, scs, runs int) int {
	return locks * scs * max(1, (runs+runsPerTask-1)/runsPerTask)
}

// runsPerTask is the largest number of seeds of a cell that one task plays.
const runsPerTask = 1000

// cellCost is about how long a cell's story takes, in seconds.
const cellCost = 0.003

// A cellPart is what one task finds of a cell: the story, in the first one, and the counts
// of some seeds.
type cellPart struct {
	story        *race.Outcome // nil: in another part
	runs, broken int
}

// count plays a cell with the seeds from from+1 to to, and counts the runs that break the
// lock; none where the race does not apply.
func count(ctx context.Context, runner *race.Runner, entry lock.Entry, sc race.Race, from, to int) (runs, broken int,
	err error) {
	if from == to {
		return 0, 0, nil
	}
	profile, err := runner.Profile(entry)
	if err != nil || sc.WhyNotApplicable(profile) != "" {
		return 0, 0, err
	}
	p, err := sc.Prepare(entry, sc.Settings, nil)
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	for seed := from + 1; seed <= to; seed++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		s := sc.Settings
		s.Seed = uint64(seed)
		run, err := p.Play(s)
		if err != nil {
			return 0, 0, err
		}
		runs++
		if slices.ContainsFunc(verdict.Judge(p.History(run, s)).Verdicts, verdict.Word.Harm) {
			broken++
		}
	}
	return runs, broken, nil
}
