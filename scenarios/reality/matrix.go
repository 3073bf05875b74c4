package reality

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
)

// SideBySide is how many runs are played at the same time: most of a run is waiting.
func SideBySide() int { return 16 * runtime.NumCPU() }

// Matrix shows every lock in every race that applies to it, in the order of locks and then
// of races; nil: it does not apply. done is called with how many cells are finished; it may
// be nil. At the first error, or when ctx ends, what is not finished is nil.
func (b *Bench) Matrix(ctx context.Context, locks []lock.Entry, scs []race.Scenario, done func(n int)) ([][]*Showing, error) {
	var runner race.Runner
	all := make([]*Showing, len(locks)*len(scs))
	err := sideBySide(ctx, len(all), SideBySide(), done, func(ctx context.Context, i int) (err error) {
		sc := scs[i%len(scs)]
		s, err := b.Run(ctx, &runner, locks[i/len(scs)], sc, sc.Settings)
		if err == nil && s.Lab.NotApplicable == "" {
			all[i] = s
		}
		return err
	})
	return slices.Collect(slices.Chunk(all, max(1, len(scs)))), err
}

// A Row is a search of the contract with what it has found, shown on real servers.
type Row struct {
	contract.Result
	Witnesses []*Showing // of Result.Search.Witnesses, in its order
}

// Verify makes the searches of a contract and shows the shortest way to each verdict that they have
// found. The rows that are no searches are left out. done and errors are as for Matrix.
func (b *Bench) Verify(ctx context.Context, rows []contract.Expectation, done func(n int)) ([]Row, error) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(e contract.Expectation) bool { return !e.IsSearch() })
	all := make([]Row, len(rows))
	// A search takes a core, and what it has found mostly waits.
	search := make(chan struct{}, runtime.NumCPU())
	err := sideBySide(ctx, len(rows), SideBySide(), done, func(ctx context.Context, i int) error {
		select {
		case search <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		r, err := rows[i].Prove(ctx)
		<-search
		if err != nil {
			return err
		}
		all[i].Result = *r
		for w := range r.Search.Witnesses {
			o, err := r.Run(w)
			if err != nil {
				return err
			}
			s, err := b.Show(ctx, o)
			if err != nil {
				return err
			}
			all[i].Witnesses = append(all[i].Witnesses, s)
		}
		return nil
	})
	return all, err
}

// sideBySide does n things, so many at the same time, up to the first error.
func sideBySide(ctx context.Context, n, width int, done func(n int), do func(ctx context.Context, i int) error) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex
		finished int
		room     = make(chan struct{}, width)
	)
	for i := range n {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			wait.Wait()
			return context.Cause(ctx)
		}
		wait.Go(func() {
			defer func() { <-room }()
			if err := do(ctx, i); err != nil {
				stop(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if finished++; done != nil {
				done(finished)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}
