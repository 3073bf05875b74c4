package main

import (
	"context"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

func (a *app) par() *cobra.Command {
	b := parBounds()
	var (
		locks          lockFlags
		budgets, files []string
	)
	c := &cobra.Command{
		Use:     "par",
		Example: a.examples("par", "par", "par --strategies redlock --budget crash=1,pause=1 --budget node-clock=1@18s", "par -o par.png -o par.csv"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := locks.pick(a, algorithms.Milestones())
			if err != nil {
				return err
			}
			if err := a.checkCharts(files); err != nil {
				return err
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
			return a.showPar(c.Context(), entries, b, budgets, files)
		},
	}
	f, usage := c.Flags(), a.usage("par")
	locks.add(a, f, "milestones")
	f.StringArrayVar(&budgets, "budget", study.SingleFaults(), usage("budget"))
	f.IntVar(&b.Clients, "clients", b.Clients, usage("clients"))
	f.IntVar(&b.Attempts, "attempts", b.Attempts, usage("attempts"))
	f.IntVar(&b.MaxStates, "max-states", b.MaxStates, usage("max-states"))
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
}

// parBounds are the bounds of the table, without a budget.
func parBounds() study.Bounds {
	b := study.DefaultBounds()
	b.Budget, b.MaxStates = "", 20_000_000
	return b
}

// searchPar makes the searches and returns the chart of their pars. The pars of a lock
// whose searches were not all finished are unknown.
func (a *app) searchPar(ctx context.Context, entries []lock.Entry, b study.Bounds, budgets []string) (*chart.Par, error) {
	done, end := a.progress(len(entries)*len(budgets), "progress.searches")
	table, err := study.ParTable(ctx, entries, b, budgets, done)
	end()
	drawn := &chart.Par{Verdicts: study.ParWords(), Clients: b.Clients, Attempts: b.Attempts, TTL: b.TTL, Budgets: budgets}
	for l, e := range entries {
		row := chart.ParRow{Strategy: e.ID}
		if table[l] != nil {
			for _, p := range table[l].Pars {
				cell := chart.ParCell{Told: p.Complete, Found: p.Found, Par: p.Par, Steps: p.Steps, Ways: p.Ways}
				if p.Found {
					cell.Trace = p.Trace.Link()
				}
				row.Pars = append(row.Pars, cell)
			}
		}
		drawn.Rows = append(drawn.Rows, row)
	}
	return drawn, err
}

type parJSON struct {
	Version    int           `json:"version"`
	Incomplete bool          `json:"incomplete,omitempty"`
	Takeaway   string        `json:"takeaway"`
	Bounds     string        `json:"bounds"`
	Pars       []parCellJSON `json:"pars"`
}

type parCellJSON struct {
	Strategy string       `json:"strategy"`
	Verdict  verdict.Word `json:"verdict"`
	Complete bool         `json:"complete"`
	Found    bool         `json:"found"`
	Par      int          `json:"par"`
	Steps    int          `json:"steps"`
	Faults   []string     `json:"faults"` // the least sets of faults
	Trace    string       `json:"trace,omitempty"`
}

func parToJSON(drawn *chart.Par, stopped bool) any {
	out := parJSON{Version: schema, Incomplete: stopped, Takeaway: drawn.Takeaway("en"), Bounds: drawn.Bounds("en"), Pars: []parCellJSON{}}
	for _, row := range drawn.Rows {
		for n, p := range row.Pars {
			out.Pars = append(out.Pars, parCellJSON{
				Strategy: row.Strategy, Verdict: drawn.Verdicts[n], Complete: p.Told, Found: p.Found,
				Par: p.Par, Steps: p.Steps, Faults: append([]string{}, p.Ways...), Trace: p.Trace,
			})
		}
	}
	return out
}

func (a *app) showPar(ctx context.Context, entries []lock.Entry, b study.Bounds, budgets, files []string) error {
	drawn, err := a.searchPar(ctx, entries, b, budgets)
	return showSearched(a, drawn, err, files, parToJSON, replayFirst(drawn))
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) []string {
	var next []string
	for _, row := range drawn.Rows {
		for _, p := range row.Pars {
			if p.Found && next == nil {
				next = append(next, "locklab replay "+p.Trace)
			}
		}
	}
	return append(next, "locklab par -o par.png", "locklab tolerance")
}
