package reality

import (
	"context"
	"runtime"
	"slices"

	"locklab/algorithms/lock"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// sideBySide is the number of runs that a task plays at the same time, beside other tasks: most of a run is waiting.
const sideBySide = 8

// A Table is what came of many traces, in rows.
type Table struct {
	Version string // of the redis-server that showed them
	Rows    []Row
}

// A Row of a Table has a name, and a comparison for each of its traces. That of a search
// has what its expectation came to, too: Met, or another status with the reasons.
type Row struct {
	Name        string
	Comparisons []*Comparison
	Status      contract.Status
	Reasons     []i18n.Message
}

// Matrix shows every lock in every race that applies to it: a row for each race, in their order and that of the locks.
// The tasks are the races. The error is about the machine, or ctx's.
func Matrix(ctx context.Context, b *Bench, locks []lock.Entry, scs []race.Race, w *share.Work) (*Table, error) {
	var runner race.Runner
	return b.table(ctx, make([]share.Task, len(scs)), w, func(ctx context.Context, i int) ([]Row, error) {
		sc, all := scs[i], make([]*Comparison, len(locks))
		err := share.InParallel(ctx, sideBySide, len(locks), nil, func(ctx context.Context, l int) error {
			s, err := b.ShowRace(ctx, &runner, locks[l], sc, sc.Settings)
			if err == nil && s.Lab.NotApplicable == "" {
				all[l] = s.Compare()
			}
			return err
		})
		all = slices.DeleteFunc(all, func(c *Comparison) bool { return c == nil })
		return []Row{{Name: sc.Code + " " + sc.ID, Comparisons: all}}, err
	})
}

// Verify makes the searches and the proofs of a contract, compares each with its row, and shows the shortest
// way to each verdict that they have found: a row for each, those of a lock together.
// What in rows is a race is left out. The tasks are the locks. The error is as for Matrix.
func Verify(ctx context.Context, b *Bench, rows []contract.Expectation, w *share.Work) (*Table, error) {
	of := byLock(rows)
	var tasks []share.Task
	for _, rows := range of {
		tasks = append(tasks, share.Task{Cost: float64(len(rows))})
	}
	// A search takes a core, and what it has found mostly waits.
	search := make(chan struct{}, runtime.GOMAXPROCS(0))
	return b.table(ctx, tasks, w, func(ctx context.Context, i int) ([]Row, error) {
		found := make([]Row, len(of[i]))
		return found, share.InParallel(ctx, sideBySide, len(found), nil, func(ctx context.Context, k int) error {
			select {
			case search <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			r, err := of[i][k].Prove(ctx)
			<-search
			if err != nil {
				return err
			}
			found[k] = Row{Name: of[i][k].Lock.ID + " " + of[i][k].Subject(), Status: r.Status, Reasons: r.Reasons}
			for w := range r.Witnesses() {
				o, err := r.Replay(w)
				if err != nil {
					return err
				}
				s, err := b.Show(ctx, o)
				if err != nil {
					return err
				}
				found[k].Comparisons = append(found[k].Comparisons, s.Compare())
			}
			return nil
		})
	})
}

// Locks returns the number of locks that the searches and proofs among rows are of: the tasks of Verify.
func Locks(rows []contract.Expectation) int { return len(byLock(rows)) }

// byLock are the searches and proofs among rows, those of a lock together, locks in the order of their first row.
func byLock(rows []contract.Expectation) [][]contract.Expectation {
	searches := lists.Pick(rows, func(e contract.Expectation) bool { return !e.IsRace() })
	return lists.Gather(searches, func(a, b contract.Expectation) bool { return a.Lock.ID == b.Lock.ID })
}

// table has the tasks computed, and puts their rows together.
func (b *Bench) table(
	ctx context.Context, tasks []share.Task, w *share.Work, do func(ctx context.Context, i int) ([]Row, error),
) (*Table, error) {
	results, err := share.Each(ctx, tasks, w, do)
	t := &Table{Version: b.Version}
	for _, rows := range results {
		if rows != nil {
			t.Rows = append(t.Rows, *rows...)
		}
	}
	return t, err
}
