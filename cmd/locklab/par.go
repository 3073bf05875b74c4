package main

import (
	"slices"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/scenarios/study"
)

func parCommand() *command {
	c, bounds, budgets := &chartFlags{}, report.ParBounds(), study.SingleFaults()
	return &command{
		use: "par", args: noArguments, tasks: onFleet,
		examples: []string{"par", "par --strategies redlock --budget crash=1,pause=1 --budget node-clock=1@18s", "par -o par.png -o par.csv"},
		flags: func(f *flags) {
			c.add(f)
			f.each("budget", &budgets)
			f.add("clients", &bounds.Clients)
			f.add("attempts", &bounds.Attempts)
			f.add("max-states", &bounds.MaxStates)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			for i, budget := range budgets {
				budgets[i] = string(faults.Budget(budget).Canonical())
			}
			for _, entry := range entries {
				for _, budget := range budgets {
					one := bounds
					one.Budget = faults.Budget(budget)
					if err := one.Check(entry); err != nil {
						return nil, err
					}
				}
			}
			drawn, err := report.Pars(e.ctx, e.work, entries, bounds, budgets)
			c.next = replayFirst(drawn)
			return drawn, err
		}),
	}
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) (next []string) {
	if n := slices.IndexFunc(drawn.Pars, func(p study.Par) bool { return p.Found }); n >= 0 {
		next = append(next, "locklab replay "+drawn.Pars[n].Trace)
	}
	return append(next, "locklab par -o par.png", "locklab tolerance")
}
