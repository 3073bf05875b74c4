package main

import (
	"cmp"
	"context"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/scenarios/study"
)

// parFlags are the flags of "locklab par".
type parFlags struct {
	chart   chartFlags
	bounds  study.Bounds // of each search, without a budget
	budgets []string
}

func parCommand() *command {
	p := &parFlags{bounds: parBounds(), budgets: study.SingleFaults()}
	return &command{
		use: "par", args: noArguments, flags: p.add, run: p.run, tasks: onFleet,
		examples: []string{"par", "par --strategies redlock --budget crash=1,pause=1 --budget node-clock=1@18s", "par -o par.png -o par.csv"},
	}
}

func (p *parFlags) add(f *flags) {
	p.chart.add(f)
	f.each("budget", &p.budgets)
	f.add("clients", &p.bounds.Clients)
	f.add("attempts", &p.bounds.Attempts)
	f.add("max-states", &p.bounds.MaxStates)
}

func (p *parFlags) run(e *env, _ []string) error {
	entries, err := p.chart.pick(e)
	if err != nil {
		return err
	}
	for i, budget := range p.budgets {
		p.budgets[i] = faults.Canonical(budget)
	}
	for _, entry := range entries {
		for _, budget := range p.budgets {
			one := p.bounds
			one.Budget = budget
			if err := one.Check(entry); err != nil {
				return err
			}
		}
	}
	drawn, err := findPars(e.ctx, e, entries, p.bounds, p.budgets)
	out := parJSON{searchedToJSON(drawn, err), drawn.Pars}
	return cmp.Or(showChart(e, drawn, err, p.chart.files, out, replayFirst(drawn)...), conclude(drawn))
}

// parBounds are the bounds of the table, without a budget.
func parBounds() study.Bounds {
	b := study.DefaultBounds()
	b.Budget, b.MaxStates = "", 20_000_000
	return b
}

// findPars makes the searches and returns the chart of their pars.
func findPars(ctx context.Context, e *env, entries []lock.Entry, b study.Bounds, budgets []string) (*chart.Par, error) {
	done, end := e.progress(len(entries)*len(budgets), "progress.searches")
	table, err := study.FindPars(ctx, entries, b, budgets, done)
	end()
	return &chart.Par{ParTable: *table}, err
}

type parJSON struct {
	searchedJSON
	Pars []study.Par `json:"pars"`
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) (next []string) {
	if n := slices.IndexFunc(drawn.Pars, func(p study.Par) bool { return p.Found }); n >= 0 {
		next = append(next, "locklab replay "+drawn.Pars[n].Trace)
	}
	return append(next, "locklab par -o par.png", "locklab tolerance")
}
