// Package share divides the work of a command among machines.
//
// A command plans its work as a list of [Task]s, computes their results with [Each], and
// shows them. Each computes here, on all cores, unless its [Work] has a [Computer],
// which computes a part ([Part]), or looks results up that other machines have computed
// ([Results]). A command does not know which. So the
// same code shows the same results wherever they come from: what [Merge] makes of the
// shares of a command is, byte for byte, what one machine gives.
//
// The conditions are few. A result is a function of its task and the build: it depends on
// no clock, no number of cores, and no other task. It can be written as JSON and read back
// without loss. A command calls Each once, with the same list in every process of the
// same build: only then do the shares of two machines fit together.
//
// To divide another command, plan it as tasks, call Each in place of a loop, and give the
// command the flag --shard (package main, shared).
package share

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"locklab/simulator/i18n"
)

// A Task is a piece of a command's work.
type Task struct {
	// ID names the task, such as "verify token/gc-pause". No two tasks of a command have
	// the same, and a build gives a task the same ID everywhere.
	ID string
	// Cost is an estimate of its time, in seconds on one core. It only balances shares and
	// orders work. Where a cost is recorded (see Recorded), that counts instead.
	Cost float64
}

// Expected is the recorded cost, or else Cost.
func (t Task) Expected() float64 {
	if c, ok := Recorded(t.ID); ok {
		return c
	}
	return max(t.Cost, 0)
}

// A Plan is the work of a command.
type Plan struct {
	Tasks []Task
	// Do computes the result of the i-th task. Goroutines may call it at the same time.
	Do func(ctx context.Context, i int) (json.RawMessage, error)
	// Check returns an error if the i-th task cannot have given a result, a *ValueError. One
	// goroutine calls it at a time.
	Check func(i int, result json.RawMessage) error
}

// A Computer has the tasks of a plan computed, all or some, here or elsewhere.
type Computer interface {
	// Compute returns the results in the order of the tasks; nil: none. The error is the reason why
	// some are missing.
	Compute(ctx context.Context, p Plan) ([]json.RawMessage, error)
}

// Work is the way to compute the tasks of a command. A nil Work computes them here, on all cores.
type Work struct {
	Computer Computer // nil: this process
	// Fits reports whether the catalogues have a text for a message in a result, with these
	// placeholders. It is needed with a Computer.
	Fits func(i18n.Message) bool
	// Done is called with the number of finished tasks, from several goroutines; it may be nil. A
	// Computer does not call it: it shows its own progress.
	Done  func(n int)
	waits bool // see Waiting
}

// Waiting returns w for tasks that mostly wait: without a Computer, several times as many as there
// are cores are computed at the same time.
func (w *Work) Waiting() *Work {
	out := Work{}
	if w != nil {
		out = *w
	}
	out.waits = true
	return &out
}

// Each returns the results of the tasks in their order, as w comes by them. A result is nil where
// there is none; then the error is the reason. do computes the i-th task, from several goroutines. When
// ctx ends, the error is ctx's.
//
// check refuses values of a result from a Computer that the i-th task cannot give; nil:
// whatever can be read back without loss is believed.
func Each[T any](ctx context.Context, tasks []Task, w *Work, do func(ctx context.Context, i int) (T, error), check func(i int, r *T, v *Values)) ([]*T, error) {
	if w == nil {
		w = &Work{}
	}
	results := make([]*T, len(tasks))
	if w.Computer == nil {
		order, atOnce := longestFirst(tasks), runtime.GOMAXPROCS(0)
		if w.waits {
			atOnce *= 4
		}
		return results, inParallel(ctx, atOnce, len(tasks), w.Done, func(ctx context.Context, i int) error {
			r, err := do(ctx, order[i])
			if err == nil {
				results[order[i]] = &r
			}
			return err
		})
	}
	checked := make([]json.RawMessage, len(tasks)) // that results are from
	accept := func(i int, raw json.RawMessage) error {
		if checked[i] != nil && bytes.Equal(raw, checked[i]) {
			return nil
		}
		var of func(r *T, v *Values)
		if check != nil {
			of = func(r *T, v *Values) { check(i, r, v) }
		}
		r, err := read(tasks[i].ID, raw, w.Fits, of)
		if err == nil {
			results[i], checked[i] = r, raw
		}
		return err
	}
	raw, failed := w.Computer.Compute(ctx, Plan{tasks, func(ctx context.Context, i int) (json.RawMessage, error) {
		r, err := do(ctx, i)
		if err != nil {
			return nil, err
		}
		return json.Marshal(r)
	}, accept})
	for i := range tasks {
		if i >= len(raw) || raw[i] == nil {
			results[i] = nil
		} else if err := accept(i, raw[i]); err != nil {
			return make([]*T, len(tasks)), err
		}
	}
	return results, failed
}

// longestFirst are the indices of the tasks by falling cost, so that no core is idle while
// another is busy with the last of them.
func longestFirst(tasks []Task) []int {
	order, cost := make([]int, len(tasks)), make([]float64, len(tasks))
	for i, t := range tasks {
		order[i], cost[i] = i, t.Expected()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	return order
}

// inParallel calls do for 0 to n-1, in any order, atOnce at a time. done is as for Each. The
// first error ends the rest.
func inParallel(ctx context.Context, atOnce, n int, done func(n int), do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var finished atomic.Int64
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := do(ctx, i)
			if k := finished.Add(1); err == nil && done != nil {
				done(int(k))
			}
			return err
		})
	}
	return group.Wait()
}
