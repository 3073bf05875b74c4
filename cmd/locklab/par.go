package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/scenarios/study"
)

func (a *app) par() *cobra.Command {
	b := parBounds()
	var (
		chosen  chartFlags
		budgets []string
	)
	c := &cobra.Command{
		Use:     "par",
		Example: a.examples("par", "par", "par --strategies redlock --budget crash=1,pause=1 --budget node-clock=1@18s", "par -o par.png -o par.csv"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := chosen.pick(a)
			if err != nil {
				return err
			}
			for i, budget := range budgets {
				budgets[i] = faults.Canonical(budget)
			}
			for _, e := range entries {
				for _, budget := range budgets {
					one := b
					one.Budget = budget
					if err := one.Check(e); err != nil {
						return err
					}
				}
			}
			drawn, err := a.findPars(c.Context(), entries, b, budgets)
			out := parJSON{searchedToJSON(drawn, err), drawn.Pars}
			return cmp.Or(a.showChart(drawn, err, chosen.files, out, replayFirst(drawn)...), a.conclude(drawn))
		},
	}
	f, usage := c.Flags(), a.usage("par")
	chosen.add(a, f, "par")
	f.StringArrayVar(&budgets, "budget", study.SingleFaults(), usage("budget"))
	f.IntVar(&b.Clients, "clients", b.Clients, usage("clients"))
	f.IntVar(&b.Attempts, "attempts", b.Attempts, usage("attempts"))
	f.IntVar(&b.MaxStates, "max-states", b.MaxStates, usage("max-states"))
	return c
}

// parBounds are the bounds of the table, without a budget.
func parBounds() study.Bounds {
	b := study.DefaultBounds()
	b.Budget, b.MaxStates = "", 20_000_000
	return b
}

// findPars makes the searches and returns the chart of their pars.
func (a *app) findPars(ctx context.Context, entries []lock.Entry, b study.Bounds, budgets []string) (*chart.Par, error) {
	done, end := a.progress(len(entries)*len(budgets), "progress.searches")
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
