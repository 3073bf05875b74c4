package share

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"time"

	"locklab/simulator/i18n"
)

// Saved computes tasks here, and saves their results so that another process can go on from
// there.
type Saved struct {
	Known    []Result                     // of an earlier process; those of other tasks are left alone
	File     string                       // that Known is from, for errors
	Save     func(results []Result) error // all results so far; it is called by one goroutine at a time
	Every    time.Duration                // between two saves while tasks are computed
	Progress func(done, of int)           // called from several goroutines; may be nil

	results []Result
}

// Compute computes the tasks of which nothing is known. It saves at intervals, and at its
// end, whatever the reason: then everything that was finished is saved.
func (s *Saved) Compute(ctx context.Context, plan Plan) error {
	if s.results == nil {
		s.results = s.Known
	}
	known := map[string]json.RawMessage{}
	for _, r := range s.results {
		known[r.Task] = r.Result
	}
	var todo []int
	for _, i := range longestFirst(plan.Tasks) {
		if r := known[plan.Tasks[i].ID]; r == nil {
			todo = append(todo, i)
		} else if err := plan.Take(i, r); err != nil {
			return i18n.Errorf("error.share.value", "file", s.File, "task", plan.Tasks[i].ID, "cause", err)
		}
	}
	before := len(plan.Tasks) - len(todo)
	tell := func(n int) {
		if s.Progress != nil {
			s.Progress(before+n, len(plan.Tasks))
		}
	}
	tell(0)
	var mu sync.Mutex
	saved := time.Now()
	err := inParallel(ctx, runtime.GOMAXPROCS(0), len(todo), tell, func(ctx context.Context, n int) error {
		r, err := plan.Do(ctx, todo[n])
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if err := plan.Take(todo[n], r); err != nil {
			return err
		}
		s.results = append(s.results, Result{plan.Tasks[todo[n]].ID, r})
		if time.Since(saved) < s.Every {
			return nil
		}
		saved = time.Now()
		return s.Save(s.results)
	})
	if len(todo) == 0 {
		return err
	}
	if failed := s.Save(s.results); failed != nil && err == nil {
		err = failed
	}
	return err
}
