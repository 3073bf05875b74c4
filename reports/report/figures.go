package report

import (
	"context"
	"slices"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/cost"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Figure is a chart or a table beside the grid, under the name of its files.
type Figure struct {
	name string
	chart.Result
}

// A Worker returns how tasks are computed: so many, with a key that says what they are. end ends
// the progress that is shown of them.
type Worker func(tasks int, what string) (w *share.Work, end func())

// A Stage is one use of a Worker: the key of its tasks, and about how many seconds of a processor they take.
type Stage struct {
	What    string
	Seconds float64
}

// Stages are those in which a report is made, the grid first.
func Stages(locks []lock.Entry, races, runs int, all bool) []Stage {
	n := float64(len(charted(locks)))
	stages := []Stage{
		{"progress.cells", float64(len(locks)*races) * (2.4e-3 + 1e-4*float64(runs))}, {"progress.crashes", 0.3 * n},
		{"progress.runs", 3}, {"progress.runs", 4},
	}
	if all {
		stages = append(stages, Stage{"progress.limits", 3 * max(n, float64(len(DifferingLocks)))},
			Stage{"progress.searches", n}, Stage{"progress.proofs", 35 * n})
	}
	return stages
}

// figures makes the charts of a report: those that take seconds, or all. They use Stages, in that order.
func (r *Report) figures(ctx context.Context, work Worker, all bool) ([]Figure, error) {
	entries := charted(r.Locks)
	quick, err := quickCharts(ctx, work, entries, r.Waits)
	if err != nil || !all {
		return quick, err
	}
	differing := entries
	if len(r.Locks) > len(entries) { // a choice was made already: the chart has its own
		differing = Differing()
	}
	limits, err := Tolerance(ctx, work, union(entries, differing))
	if err != nil {
		return nil, err
	}
	known := limits.Only(entries)
	order := cost.UsualRateOrder()
	order.PauseStopsWork = !r.Waits
	rates, err := cost.FindRates(ctx, order, &known)
	if err != nil {
		return nil, err
	}
	pars, err := Pars(ctx, work, entries, ParBounds(), study.SingleFaults())
	if err != nil {
		return nil, err
	}
	theorems, err := Theorems(ctx, work, entries, study.TheoremBudgets())
	if err != nil {
		return nil, err
	}
	slow := []Figure{{"rate", &chart.Rate{Rates: *rates}},
		{"tolerance", &chart.Tolerance{Tolerance: limits.Only(differing)}}, {"par", pars}}
	return slices.Concat(slow, quick, []Figure{{"theorems", theorems}}), nil
}

// quickCharts are those that are smaller than what "locklab chart recovery", "locklab chart waiting" and
// "locklab chart sweep" draw: each takes two seconds.
func quickCharts(ctx context.Context, work Worker, entries []lock.Entry, waits bool) (figures []Figure, err error) {
	crashing := slices.DeleteFunc(slices.Clone(entries),
		func(entry lock.Entry) bool { return UsualRecovery.Check(entry) != nil })
	if len(crashing) > 0 {
		recovery, err := Recovery(ctx, work, crashing, UsualRecovery)
		if err != nil {
			return nil, err
		}
		figures = append(figures, Figure{"recovery", recovery})
	}
	load, policies, sizes := cost.UsualLoad(), cost.Policies(), []int{2, 10, 25}
	w, end := work(len(policies)*len(sizes), "progress.runs")
	results, err := cost.FindWaiting(ctx, policies, sizes, load, w)
	end()
	if err != nil {
		return nil, err
	}
	sweep, err := study.ShowcaseSweep(ctx, waits,
		func(steps int) (*share.Work, func()) { return work(steps, "progress.runs") })
	if err != nil {
		return nil, err
	}
	return append(figures, Figure{"waiting", &chart.WaitingChart{Load: load, Results: results}},
		Figure{"sweep", &chart.Sweep{Sweep: *sweep}}), nil
}

// union returns a, and what b has besides.
func union(a, b []lock.Entry) []lock.Entry {
	all := slices.Clone(a)
	for _, e := range b {
		if !slices.ContainsFunc(a, func(o lock.Entry) bool { return o.ID == e.ID }) {
			all = append(all, e)
		}
	}
	return all
}

// ParBounds are those of a table of pars, without a budget.
func ParBounds() search.Bounds {
	b := search.DefaultBounds()
	b.Budget, b.MaxStates = "", 20_000_000
	return b
}

// Pars searches, and returns the chart of the fewest faults that break each lock.
func Pars(ctx context.Context, work Worker, entries []lock.Entry, b search.Bounds, budgets []string) (*chart.Par,
	error) {
	w, end := work(len(entries)*len(budgets), "progress.searches")
	defer end()
	table, err := study.FindPars(ctx, entries, b, budgets, w)
	return &chart.Par{ParTable: *table}, err
}

// Theorems proves and searches, and returns the table of what is proved for any number of clients.
func Theorems(ctx context.Context, work Worker, entries []lock.Entry, budgets []string) (*chart.Theorems, error) {
	w, end := work(len(entries)*len(budgets), "progress.proofs")
	defer end()
	found, err := study.FindTheorems(ctx, entries, budgets, w)
	return &chart.Theorems{Theorems: *found}, err
}

// DifferingLocks are locks whose tolerances differ: a lease, one whose holder stops early, one
// that is renewed, one by clients' clocks, a majority, and a session.
var DifferingLocks = []string{"token", "lock-delay", "watchdog", "client-expiry", "redlock", "zk-protected"}

// Differing returns them.
func Differing() []lock.Entry {
	return lists.Each(DifferingLocks, func(id string) lock.Entry {
		e, _ := algorithms.ByName(id)
		return e
	})
}

// Tolerance searches, and returns the chart of the limits of locks.
func Tolerance(ctx context.Context, work Worker, entries []lock.Entry) (*chart.Tolerance, error) {
	w, end := work(study.ToleranceCells(len(entries)), "progress.limits")
	defer end()
	found, err := study.FindTolerance(ctx, entries, w)
	return &chart.Tolerance{Tolerance: *found}, err
}

// UsualRecovery is what a chart of recoveries looks at.
var UsualRecovery = cost.RecoveryOrder{TTL: 10 * time.Second}

// Recovery plays crashes, and returns the chart of what follows them.
func Recovery(ctx context.Context, work Worker, entries []lock.Entry, o cost.RecoveryOrder) (*chart.RecoveryChart,
	error) {
	w, end := work(len(entries), "progress.crashes")
	defer end()
	found, err := cost.FindRecovery(ctx, entries, o, w)
	return &chart.RecoveryChart{Recoveries: found}, err
}
