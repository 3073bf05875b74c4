package main

import (
	"slices"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/scenarios/study"
)

// parFlags are the flags of "locklab par".
type parFlags struct {
	chart   chartFlags
	bounds  study.Bounds // of each search, without a budget
	budgets []string
}

func parCommand() *command {
	p := &parFlags{bounds: report.ParBounds(), budgets: study.SingleFaults()}
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
	entries, err := p.chart.pick(e, algorithms.Milestones())
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
	drawn, err := report.Pars(e.ctx, e.work, entries, p.bounds, p.budgets)
	return p.chart.show(e, drawn, err, replayFirst(drawn)...)
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) (next []string) {
	if n := slices.IndexFunc(drawn.Pars, func(p study.Par) bool { return p.Found }); n >= 0 {
		next = append(next, "locklab replay "+drawn.Pars[n].Trace)
	}
	return append(next, "locklab par -o par.png", "locklab tolerance")
}
