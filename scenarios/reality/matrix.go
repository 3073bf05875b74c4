package reality

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/algorithms/lock"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// sideBySide is the number of runs that a task plays at the same time, beside other tasks: most of a run is
// waiting.
const sideBySide = 8

// A Table is what came of many traces, in rows.
type Table struct {
	Versions []string // of the redis-servers that showed them, each once
	Rows     []Row
}

// A Row of a Table has a name, and a comparison for each of its traces. That of a search
// has what its expectation came to, too: Met, or another status with the reasons.
type Row struct {
	Name        string
	Comparisons []*Comparison
	Status      contract.Status
	Reasons     []i18n.Message
}

// A taskResult is what one task finds.
type taskResult struct {
	Version string
	Rows    []Row
}

// Matrix shows every lock in every race that applies to it: a row for each race, in their
// order and that of the locks. The tasks are the races. bench is called when the first task begins on
// this machine. The error
// is bench's, about the machine, or ctx's.
func Matrix(ctx context.Context, bench func() (*Bench, error), lease time.Duration, rounds int, locks []lock.Entry, scs []race.Scenario, w *share.Work) (*Table, error) {
	var tasks []share.Task
	for _, sc := range scs {
		tasks = append(tasks, share.Task{ID: fmt.Sprintf("live matrix %s,lease=%v,rounds=%d", sc.ID, lease, rounds), Cost: 1})
	}
	var runner race.Runner
	return table(ctx, tasks, bench, w, func(ctx context.Context, b *Bench, i int) ([]Row, error) {
		sc, all := scs[i], make([]*Comparison, len(locks))
		err := inParallel(ctx, len(locks), func(ctx context.Context, l int) error {
			s, err := b.ShowRace(ctx, &runner, locks[l], sc, sc.Settings)
			if err == nil && s.Lab.NotApplicable == "" {
				all[l] = s.Compare()
			}
			return err
		})
		all = slices.DeleteFunc(all, func(c *Comparison) bool { return c == nil })
		return []Row{{Name: sc.Race + " " + sc.ID, Comparisons: all}}, err
	}, func(i int, rows []Row, v *share.Values) {
		v.Length("Rows", len(rows), 1)
		next := locks // in their order
		for r := range rows {
			share.Is(v, fmt.Sprintf("Rows[%d].Name", r), rows[r].Name, scs[i].Race+" "+scs[i].ID)
			rows[r].each(r, v, func(field string, c *Comparison) {
				l := slices.IndexFunc(next, func(e lock.Entry) bool { return e.ID == c.Strategy })
				v.Require(l >= 0, field+"Strategy", c.Strategy, i18n.New("share.want.known"))
				next = next[l+1:]
				c.check(field, c.Strategy, scs[i].ID, rounds, v)
			})
		}
	})
}

// Verify makes the searches and the proofs of a contract, compares each with its row, and shows the shortest
// way to each verdict that they have found: a row for each, those of a lock together.
// What in rows is a race is left out. The tasks are the locks. bench and the error are as for Matrix.
func Verify(ctx context.Context, bench func() (*Bench, error), lease time.Duration, rounds int, rows []contract.Expectation, w *share.Work) (*Table, error) {
	of := byLock(rows)
	var tasks []share.Task
	for _, rows := range of {
		tasks = append(tasks, share.Task{ID: fmt.Sprintf("live verify %s,lease=%v,rounds=%d", rows[0].Strategy.ID, lease, rounds), Cost: float64(len(rows))})
	}
	// A search takes a core, and what it has found mostly waits.
	search := make(chan struct{}, runtime.GOMAXPROCS(0))
	return table(ctx, tasks, bench, w, func(ctx context.Context, b *Bench, i int) ([]Row, error) {
		found := make([]Row, len(of[i]))
		return found, inParallel(ctx, len(found), func(ctx context.Context, k int) error {
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
			found[k] = Row{Name: of[i][k].Strategy.ID + " " + of[i][k].Subject(), Status: r.Status, Reasons: r.Reasons}
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
	}, func(i int, rows []Row, v *share.Values) {
		v.Length("Rows", len(rows), len(of[i]))
		for r := range min(len(rows), len(of[i])) {
			e := of[i][r]
			share.Is(v, fmt.Sprintf("Rows[%d].Name", r), rows[r].Name, e.Strategy.ID+" "+e.Subject())
			v.Require((rows[r].Status == contract.Met) == (len(rows[r].Reasons) == 0), fmt.Sprintf("Rows[%d].Status", r), rows[r].Status, i18n.New("share.want.known"))
			for _, reason := range rows[r].Reasons {
				v.Message(fmt.Sprintf("Rows[%d].Reasons", r), reason, "unmet.")
			}
			rows[r].each(r, v, func(field string, c *Comparison) { c.check(field, e.Strategy.ID, study.SearchID, rounds, v) })
		}
	})
}

// each calls check for each comparison of the r-th row, with its field.
func (row *Row) each(r int, v *share.Values, check func(field string, c *Comparison)) {
	for i, c := range row.Comparisons {
		field := fmt.Sprintf("Rows[%d].Comparisons[%d]", r, i)
		if c == nil {
			v.Refuse(field, nil, i18n.New("share.want.known"))
			return
		}
		check(field+".", c)
	}
}

// Locks returns the number of locks that the searches and proofs among rows are of: the tasks of Verify.
func Locks(rows []contract.Expectation) int { return len(byLock(rows)) }

// byLock are the searches and proofs among rows, those of a lock together, locks in the order of
// their first row.
func byLock(rows []contract.Expectation) [][]contract.Expectation {
	searches := lists.Pick(rows, func(e contract.Expectation) bool { return !e.IsRace() })
	return lists.Gather(searches, func(a, b contract.Expectation) bool { return a.Strategy.ID == b.Strategy.ID })
}

// table has the tasks computed, and puts their rows together.
func table(ctx context.Context, tasks []share.Task, bench func() (*Bench, error), w *share.Work, do func(ctx context.Context, b *Bench, i int) ([]Row, error), check func(i int, rows []Row, v *share.Values)) (*Table, error) {
	results, err := share.Each(ctx, tasks, w.Waiting(), func(ctx context.Context, i int) (r taskResult, err error) {
		b, err := bench()
		if err != nil {
			return r, err
		}
		r.Version = b.Version
		r.Rows, err = do(ctx, b, i)
		return r, err
	}, func(i int, r *taskResult, v *share.Values) {
		v.Require(version.MatchString(r.Version), "Version", r.Version, i18n.New("share.want.version"))
		check(i, r.Rows, v)
	})
	t := &Table{}
	for _, r := range results {
		if r == nil {
			continue
		}
		t.Rows = append(t.Rows, r.Rows...)
		if !slices.Contains(t.Versions, r.Version) {
			t.Versions = append(t.Versions, r.Version)
		}
	}
	slices.Sort(t.Versions)
	return t, err
}

// version is one of a redis-server; there is none where all is on a ZooKeeper.
var version = regexp.MustCompile(`^[0-9A-Za-z.+~-]{0,40}$`)

// inParallel does n things, some at the same time, up to the first error.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}
