package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
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
		Use:   "par",
		Short: "how little bad luck each lock needs to break",
		Long: `Searches each lock for each harm and prints par: the fewest unlucky moves, that
is strikes of faults, with which it comes about, and which moves those are.
"none" is proved within the bounds; "?" is a search that was given up.

Each budget is a search of its own, and the least par of all is taken. Without
--budget they are one strike of each fault that needs no size. A lock that wants
more than three servers gets three. locklab tolerance says what jumps of clocks do.`,
		Example: "  locklab par\n  locklab par --strategies redlock --budget crash=1,pause=1 --budget node-clock=1@18s\n  locklab par -o par.png -o par.csv",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := locks.pick(algorithms.Milestones())
			if err != nil {
				return err
			}
			if err := checkCharts(files, "a table of pars"); err != nil {
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
	f := c.Flags()
	locks.add(f, "the six of the tour")
	f.StringArrayVar(&budgets, "budget", study.SingleFaults(), "how often each fault may strike (repeatable: one search each)")
	f.IntVar(&b.Clients, "clients", b.Clients, "how many clients contend")
	f.IntVar(&b.Attempts, "attempts", b.Attempts, "how often each asks for the lock")
	f.IntVar(&b.MaxStates, "max-states", b.MaxStates, "give a search up after so many states; 0: never")
	f.StringArrayVarP(&files, "out", "o", nil, "write to FILE: .png, .svg or .csv (repeatable)")
	return c
}

// parBounds are those of the table, without a budget.
func parBounds() study.Bounds {
	b := study.DefaultBounds()
	b.Budget, b.MaxStates = "", 20_000_000
	return b
}

// searchPar searches, and puts what was found into words for the chart. A lock
// whose searches were not all finished is not told.
func (a *app) searchPar(ctx context.Context, entries []lock.Entry, b study.Bounds, budgets []string) (*reports.ParChart, error) {
	done, end := a.progress(len(entries)*len(budgets), "searches")
	table, err := study.ParTable(ctx, entries, b, budgets, done)
	end()
	chart := &reports.ParChart{Verdicts: study.ParWords(), Clients: b.Clients, Attempts: b.Attempts, TTL: b.TTL, Budgets: budgets}
	for l, e := range entries {
		row := reports.ParRow{Strategy: e.ID}
		if table[l] != nil {
			for _, p := range table[l].Pars {
				cell := reports.ParCell{Told: p.Complete, Found: p.Found, Par: p.Par, Steps: p.Steps, Ways: p.Ways}
				if p.Found {
					cell.Trace = p.Trace.Link()
				}
				row.Pars = append(row.Pars, cell)
			}
		}
		chart.Rows = append(chart.Rows, row)
	}
	return chart, err
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
	Ways     []string     `json:"ways"`
	Trace    string       `json:"trace,omitempty"`
}

func parToJSON(chart *reports.ParChart, stopped bool) parJSON {
	out := parJSON{Version: schema, Incomplete: stopped, Takeaway: chart.Takeaway("en"), Bounds: chart.Bounds("en"), Pars: []parCellJSON{}}
	for _, row := range chart.Rows {
		for n, p := range row.Pars {
			out.Pars = append(out.Pars, parCellJSON{
				Strategy: row.Strategy, Verdict: chart.Verdicts[n], Complete: p.Told, Found: p.Found,
				Par: p.Par, Steps: p.Steps, Ways: append([]string{}, p.Ways...), Trace: p.Trace,
			})
		}
	}
	return out
}

func (a *app) showPar(ctx context.Context, entries []lock.Entry, b study.Bounds, budgets, files []string) error {
	chart, err := a.searchPar(ctx, entries, b, budgets)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	return a.showSearched(chart, stopped, files, parToJSON(chart, stopped), replayFirst(chart))
}

// replayFirst offers the first way that was found.
func replayFirst(chart *reports.ParChart) []string {
	var next []string
	for _, row := range chart.Rows {
		for _, p := range row.Pars {
			if p.Found && next == nil {
				next = append(next, "locklab replay "+p.Trace)
			}
		}
	}
	return append(next, "locklab par -o par.png", "locklab tolerance")
}
