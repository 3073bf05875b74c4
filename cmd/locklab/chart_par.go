package main

import (
	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
)

func parChart(files *chartFiles) *figure {
	bounds, budgets := parBounds(), study.SingleFaults()
	d := &figure{chartFiles: files, usual: algorithms.Milestones, minutes: true, each: 1}
	d.draw = func(e *env, entries []lock.Entry) (chart.Result, error) {
		for i, budget := range budgets {
			budgets[i] = string(faults.Budget(budget).Canonical())
		}
		if err := checkBudgets(entries, bounds, budgets); err != nil {
			return nil, err
		}
		drawn, err := findPars(e, entries, bounds, budgets)
		d.next = replayFirst(drawn)
		return drawn, err
	}
	d.command = &command{
		use: "par", texts: []string{"par", "chart"}, args: noArguments, run: d.run,
		examples: []string{"chart par",
			"chart par --locks redlock --budget crash=1,pause=1 --budget node-clock=1@18s",
			"chart par -o par.png -o par.csv"},
		flags: func(f *flags) {
			d.addLocks(f)
			f.each("budget", &budgets)
			f.bounds(&bounds, "clients", "attempts", "max-states")
		},
	}
	return d
}

// parBounds are those of a table of pars, without a budget.
func parBounds() search.Bounds {
	b := search.DefaultBounds()
	b.Budget, b.MaxStates = "", 20_000_000
	return b
}

// findPars searches for the fewest faults that break each lock.
func findPars(e *env, entries []lock.Entry, b search.Bounds, budgets []string) (*chart.Par, error) {
	w, end := e.work(len(entries)*len(budgets), "progress.searches")
	defer end()
	table, err := study.FindPars(e.ctx, entries, b, budgets, w)
	return &chart.Par{ParTable: *table}, err
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) (next []string) {
	if first := drawn.First(); first != nil {
		next = append(next, "locklab run "+first.Trace)
	}
	return append(next, "locklab chart par -o par.png", "locklab chart tolerance")
}
