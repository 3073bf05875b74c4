package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"locklab/simulator/i18n"
)

// MaxShares is the largest number of shares.
const MaxShares = 10_000

// A Part is a share of all tasks: the K-th of N, from 1.
type Part struct{ K, N int }

// String is "3/16".
func (p Part) String() string { return fmt.Sprintf("%d/%d", p.K, p.N) }

// ParsePart reads what String wrote.
func ParsePart(s string) (Part, error) {
	k, n, _ := strings.Cut(s, "/")
	p := Part{}
	var errs [2]error
	p.K, errs[0] = strconv.Atoi(k)
	p.N, errs[1] = strconv.Atoi(n)
	if errors.Join(errs[:]...) != nil || p.K < 1 || p.K > p.N || p.N > MaxShares {
		return Part{}, i18n.Errorf("error.shard", "value", s, "most", MaxShares)
	}
	return p, nil
}

// Assign returns for each task which of n shares has it, from 1. The shares' costs are about equal:
// each task, the dearest first, goes to the share that has the least so far.
func Assign(tasks []Task, n int) []int {
	of, load := make([]int, len(tasks)), make([]float64, n)
	for _, i := range longestFirst(tasks) {
		least := 0
		for k := range load {
			if load[k] < load[least] {
				least = k
			}
		}
		of[i] = least + 1
		load[least] += max(tasks[i].Cost, 1e-6) // equal tasks are spread
	}
	return of
}

// ErrPartial is the error of Each where only a share of the tasks was to be computed, and was.
var ErrPartial = errors.New("share: only a share of the tasks was computed")

// A Partial computes the tasks of one share.
type Partial struct {
	Part     Part
	Progress func(done, of int) // called from several goroutines; may be nil

	Results []Result // in the order of the plan
}

// Compute computes the share's tasks and keeps their results. It takes none: a part
// is not shown. Its error is ErrPartial, or the first of a task.
func (p *Partial) Compute(ctx context.Context, plan Plan) error {
	var mine []int
	of := Assign(plan.Tasks, p.Part.N)
	for _, i := range longestFirst(plan.Tasks) {
		if of[i] == p.Part.K {
			mine = append(mine, i)
		}
	}
	results := make([]json.RawMessage, len(plan.Tasks))
	err := InParallel(ctx, runtime.GOMAXPROCS(0), len(mine), func(n int) {
		if p.Progress != nil {
			p.Progress(n, len(mine))
		}
	}, func(ctx context.Context, n int) (err error) {
		results[mine[n]], err = plan.Do(ctx, mine[n])
		return err
	})
	for i, r := range results {
		if r != nil {
			p.Results = append(p.Results, Result{plan.Tasks[i].ID, r})
		}
	}
	if err != nil {
		return err
	}
	return ErrPartial
}
