package main

import (
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

func demoCommand() *command { return &command{use: "demo", args: noArguments, run: runDemo} }

func runDemo(e *env, _ []string) error {
	story, err := study.Demo()
	if err != nil {
		return internal(err)
	}
	locks, err := locksNamed(report.DemoLocks)
	if err != nil {
		return internal(err)
	}
	races, err := pickRaces(report.DemoRaces)
	if err != nil {
		return internal(err)
	}
	cells, err := study.Matrix(e.ctx, locks, races, 0, nil, nil)
	if err != nil {
		return internal(err)
	}
	if !e.json {
		printTour(e, story, report.Grid(locks, races, cells))
		return nil
	}
	flat, _ := flatten(cells)
	e.printJSON(struct {
		Version int        `json:"version"`
		Run     runJSON    `json:"run"`
		Cells   []cellJSON `json:"cells"`
	}{schema, outcomeJSON(story), cellsJSON(flat)})
	return nil
}

func printTour(e *env, story *race.Outcome, grid *chart.Grid) {
	o := e.look()
	o.Brief, grid.Brief = true, true
	e.Sentence("demo.intro")
	e.Printf("\n")
	e.Keep(reports.Lanes(e.Out, story.History, story.Judgement, o))
	e.Printf("\n")
	e.Sentence("demo.grid")
	e.Printf("\n")
	e.chart(grid)
	e.Printf("\n%s\n", e.Say("demo.next"))
	e.Printf("  locklab run redlock gc-pause\n  locklab explain R18\n")
}
