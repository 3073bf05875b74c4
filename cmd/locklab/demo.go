package main

import (
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

func demoCommand() *command { return &command{use: "demo", args: noArguments, run: runDemo} }

func runDemo(e *env, _ []string) error {
	told, err := study.Demo()
	if err != nil {
		return internal(err)
	}
	locks, err := locksNamed(demoLocks)
	if err != nil {
		return internal(err)
	}
	races, err := pickRaces(demoRaces)
	if err != nil {
		return internal(err)
	}
	cells, err := study.Matrix(e.ctx, locks, races, 0, nil, nil)
	if err != nil {
		return internal(err)
	}
	if e.json {
		flat, _ := flatten(cells)
		return e.printJSON(struct {
			Version int        `json:"version"`
			Run     runJSON    `json:"run"`
			Cells   []cellJSON `json:"cells"`
		}{schema, outcomeJSON(told), cellsJSON(flat)})
	}
	return printTour(e, told, gridOf(locks, races, cells))
}

func printTour(e *env, told *race.Outcome, grid *chart.Grid) error {
	o := e.options()
	o.Brief, grid.Brief = true, true
	e.Sentence("demo.intro")
	e.Printf("\n")
	if err := reports.Lanes(e.Out, told.History, told.Judgement, o); err != nil {
		return internal(err)
	}
	e.Printf("\n")
	e.Sentence("demo.grid")
	e.Printf("\n")
	if err := chart.Text(e.Out, grid, o); err != nil {
		return internal(err)
	}
	e.Printf("\n%s\n", e.Say("demo.next"))
	e.Printf("  locklab run redlock gc-pause\n  locklab explain R18\n")
	return nil
}
