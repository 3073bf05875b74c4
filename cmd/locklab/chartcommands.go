package main

import (
	"slices"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// The commands of charts that choose locks, and little else.

func parCommand() *command {
	c, bounds, budgets := &chartFlags{}, report.ParBounds(), study.SingleFaults()
	return &command{
		use: "par", args: noArguments,
		examples: []string{"chart par", "chart par --strategies redlock --budget crash=1,pause=1 --budget node-clock=1@18s", "chart par -o par.png -o par.csv"},
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
			if err := checkBudgets(entries, bounds, budgets); err != nil {
				return nil, err
			}
			drawn, err := report.Pars(e.ctx, e.work, entries, bounds, budgets)
			c.next = replayFirst(drawn)
			return drawn, err
		}),
	}
}

// checkBudgets returns an error if a lock cannot be searched within b with one of the budgets.
func checkBudgets(entries []lock.Entry, b study.Bounds, budgets []string) error {
	for _, entry := range entries {
		for _, budget := range budgets {
			b.Budget = faults.Budget(budget)
			if err := b.Check(entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func theoremsCommand() *command {
	c, budgets := &chartFlags{table: true, next: []string{"locklab chart theorems -o theorems.csv", "locklab prove token", "locklab chart par"}}, study.TheoremBudgets()
	return &command{
		use: "theorems", args: noArguments,
		examples: []string{"chart theorems", "chart theorems --strategies setnx,token --budget crash=any", "chart theorems --strategies one-step -o theorems.csv"},
		flags: func(f *flags) {
			c.add(f)
			f.each("budget", &budgets)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			var read []string
			for i, written := range budgets {
				budget, endless, err := study.EndlessBudget(written)
				if err != nil {
					return nil, err
				}
				read = append(read, string(budget.Canonical()))
				if !endless {
					budgets[i] = read[i]
				}
			}
			if err := checkBudgets(entries, study.DefaultBounds(), read); err != nil {
				return nil, err
			}
			return report.Theorems(e.ctx, e.work, entries, budgets)
		}),
	}
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) (next []string) {
	if n := slices.IndexFunc(drawn.Pars, func(p study.Par) bool { return p.Found }); n >= 0 {
		next = append(next, "locklab run "+drawn.Pars[n].Trace)
	}
	return append(next, "locklab chart par -o par.png", "locklab chart tolerance")
}

func toleranceCommand() *command {
	c := &chartFlags{next: []string{"locklab chart tolerance -o tolerance.png", "locklab chart par", "locklab chart sweep pause/ttl"}}
	return &command{
		use: "tolerance", args: noArguments,
		examples: []string{"chart tolerance", "chart tolerance --strategies token,redlock -o tolerance.png -o tolerance.csv"},
		flags:    func(f *flags) { c.addUsual(f, strings.Join(report.DifferingLocks, ",")) },
		run:      c.run(report.Differing, drawTolerance),
	}
}

// rateRaces are the races in which a clock runs at a wrong rate: a client's, and servers'.
var rateRaces = []string{"clock-drift", "server-drift"}

func drawTolerance(e *env, entries []lock.Entry) (chart.Result, error) {
	drawn, err := report.Tolerance(e.ctx, e.work, entries)
	if err != nil {
		return drawn, err
	}
	races, err := pickRaces(rateRaces)
	if err != nil {
		return drawn, err
	}
	drawn.Rates, err = study.FindRates(e.ctx, entries, races)
	return drawn, err
}

func recoveryCommand() *command {
	ttls, work := report.UsualTTLs, time.Duration(0)
	c := &chartFlags{numbers: true, next: []string{
		"locklab chart recovery -o recovery.png", "locklab chart rate", "locklab run token crash-holding",
	}}
	return &command{
		use: "recovery", args: noArguments,
		examples: []string{"chart recovery", "chart recovery --ttls 5s,15s --work 3s --strategies token,watchdog -o recovery.png"},
		flags: func(f *flags) {
			c.add(f)
			f.add("ttls", &ttls)
			f.add("work", &work)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			order, err := report.RecoveryOrder(ttls, work)
			if err != nil {
				return nil, err
			}
			for _, entry := range entries {
				if err := order.Check(entry); err != nil {
					return nil, text.Errorf("error.cause", "of", "--ttls", "cause", err)
				}
			}
			return report.Recovery(e.ctx, e.work, entries, order)
		}),
	}
}
