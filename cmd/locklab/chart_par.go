package main

import (
	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

func parChart() *figure {
	bounds, budgets := parBounds(), study.SingleFaults()
	d := &figure{usual: algorithms.Milestones, minutes: true, each: 2}
	d.command = &command{
		use: "par", texts: []string{"par", "chart"},
		examples: []string{"chart par",
			"chart par --locks redlock --budget crash=1,pause=1 --budget node-clock=1@18s",
			"chart par -o par.png -o par.csv"},
		flags: func(f *flags) {
			f.each("budget", &budgets)
			f.bounds(&bounds, "clients", "attempts", "max-states")
		},
	}
	d.draw = func(e *env, entries []lock.Entry) (chart.Result, error) {
		budgets = lists.Each(budgets, func(b string) string { return string(faults.Budget(b).Canonical()) })
		if err := checkBudgets(entries, bounds, budgets); err != nil {
			return nil, err
		}
		drawn, err := findPars(e, entries, bounds, budgets)
		if found := lists.Pick(drawn.Rows, func(p study.Par) bool { return p.Found }); found != nil {
			d.next = []string{"locklab run " + found[0].Trace}
		}
		d.next = append(d.next, "locklab chart par -o par.png", "locklab chart tolerance")
		return drawn, err
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
