// Package share divides the work of a command among machines.
//
// A command plans its work as a list of [Task]s, computes their results with [Each], and shows them. Each computes
// here, on all cores, unless its [Work] has a [Computer], which computes a part ([Partial]), or looks results up that
// other machines have computed ([Results]). A command does not know which. So the same code shows the same results
// wherever they come from: what [Merge] makes of the shares of a command is, byte for byte, what one machine gives.
//
// The conditions are few. A result is a function of its task and the build: it depends on no clock, no number of cores,
// and no other task. It can be written as JSON and read back without loss. A command calls Each once, with the same
// list in every process of the same build: only then do the shares of two machines fit together.
//
// To divide another command, plan it as tasks, call Each in place of a loop, and give the
// command the flag --shard (package main, command.divides).
package share

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// A Task is a piece of a command's work.
type Task struct {
	// ID names the task, such as "verify token/gc-pause". No two tasks of a command have the same, and a build gives a
	// task the same ID everywhere. A command without --shard needs none.
	ID string
	// Cost is an estimate of its time, in seconds on one core. It only balances shares and orders work.
	Cost float64
}

// A Plan is the work of a command.
type Plan struct {
	Tasks []Task
	// Do computes the result of the i-th task. Goroutines may call it at the same time.
	Do func(ctx context.Context, i int) (json.RawMessage, error)
	// Take gives the command the result of the i-th task. The error is json's. One goroutine calls it at a time.
	Take func(i int, result json.RawMessage) error
}

// A Computer has the tasks of a plan computed, all or some, here or elsewhere.
type Computer interface {
	// Compute has the results taken. The error is the reason why some are missing.
	Compute(ctx context.Context, p Plan) error
}

// Work is the way to compute the tasks of a command. A nil Work computes them here, on all cores.
type Work struct {
	Computer Computer // nil: this process
	// Done is called with the number of finished tasks, from several goroutines; it may be nil. A
	// Computer does not call it: it shows its own progress.
	Done func(n int)
	// Waits: the tasks mostly wait, so that without a Computer several times as many as cores are computed at once.
	Waits bool
}

// Each returns the results of the tasks in their order, as w comes by them. A result is nil where there is none; then
// the error is the reason. do computes the i-th task, from several goroutines. When ctx ends, the error is ctx's.
func Each[T any](
	ctx context.Context, tasks []Task, w *Work, do func(ctx context.Context, i int) (T, error),
) ([]*T, error) {
	if w == nil {
		w = &Work{}
	}
	results := make([]*T, len(tasks))
	if w.Computer == nil {
		order, atOnce := longestFirst(tasks), runtime.GOMAXPROCS(0)
		if w.Waits {
			atOnce *= 4
		}
		return results, InParallel(ctx, atOnce, len(tasks), w.Done, func(ctx context.Context, i int) error {
			r, err := do(ctx, order[i])
			if err == nil {
				results[order[i]] = &r
			}
			return err
		})
	}
	return results, w.Computer.Compute(ctx, Plan{tasks, func(ctx context.Context, i int) (json.RawMessage, error) {
		r, err := do(ctx, i)
		if err != nil {
			return nil, err
		}
		return json.Marshal(r)
	}, func(i int, result json.RawMessage) error {
		r := new(T)
		if err := json.Unmarshal(result, r); err != nil {
			return err
		}
		results[i] = r
		return nil
	}})
}

// longestFirst are the indices of the tasks by falling cost, so that no core is idle while another does the last.
func longestFirst(tasks []Task) []int {
	order := make([]int, len(tasks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tasks[b].Cost, tasks[a].Cost) })
	return order
}

// InParallel calls do for 0 to n-1, in any order, atOnce at a time. done is as for Each. The first error ends the rest.
func InParallel(ctx context.Context, atOnce, n int, done func(n int), do func(ctx context.Context, i int) error) error {
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

// Build identifies this program: by the revision of its source where it was built from nothing else, and otherwise by
// its bytes. Results of the same build are the same everywhere.
var Build = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := clean(info); revision != "" {
			return "revision " + revision + ", " + runtime.Version(), nil
		}
	}
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "build " + hex.EncodeToString(sum.Sum(nil)[:8]) + ", " + runtime.Version(), nil
})

// clean is the revision that a program was built from without changes; "": it is unknown, or there were some.
func clean(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.modified"] != "false" {
		return ""
	}
	return settings["vcs.revision"]
}
