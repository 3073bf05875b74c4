package main

import (
	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// demoLocks are one lock of each idea, as many as fit on a screen.
var demoLocks = []string{"setnx", "setnx-expire", "getset", "token", "watchdog", "redlock"}

// demoRaces are the best-known races of these locks, as many as fit on a screen.
var demoRaces = []string{
	"R01", "R02", "R03", "R04", "R06", "R09", "R14", "R15", "R16", "R18", "R18F", "R21", "R24", "R25", "R32",
}

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:  "demo",
		Args: a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			told, err := study.Demo()
			if err != nil {
				return internal(err)
			}
			locks, err := a.named(demoLocks)
			if err != nil {
				return internal(err)
			}
			races, err := a.pickRaces(demoRaces)
			if err != nil {
				return internal(err)
			}
			cells, err := study.Matrix(c.Context(), locks, races, 0, nil, nil)
			if err != nil {
				return internal(err)
			}
			flat, _ := flatten(cells)
			if a.json {
				return a.printJSON(struct {
					Version int        `json:"version"`
					Run     runJSON    `json:"run"`
					Cells   []cellJSON `json:"cells"`
				}{schema, outcomeJSON(told), cellsJSON(flat)})
			}
			return a.tour(told, gridOf(locks, races, cells))
		},
	}
}

func (a *app) tour(told *race.Outcome, grid *chart.Grid) error {
	o := a.options()
	o.Brief, grid.Brief = true, true
	a.Sentence("demo.intro")
	a.Printf("\n")
	if err := reports.Lanes(a.Out, told.History, told.Judgement, o); err != nil {
		return internal(err)
	}
	a.Printf("\n")
	a.Sentence("demo.grid")
	a.Printf("\n")
	if err := chart.Text(a.Out, grid, o); err != nil {
		return internal(err)
	}
	a.Printf("\n%s\n", a.Say("demo.next"))
	a.Printf("  locklab run redlock gc-pause\n  locklab explain R18\n")
	return nil
}
