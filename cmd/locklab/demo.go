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
	flat, _ := flatten(cells)
	tour := struct {
		Version int        `json:"version"`
		Run     runJSON    `json:"run"`
		Cells   []cellJSON `json:"cells"`
	}{schema, outcomeJSON(story), cellsJSON(flat)}
	return e.show(tour, func() error { return printTour(e, story, report.Grid(locks, races, cells)) })
}

func printTour(e *env, story *race.Outcome, grid *chart.Grid) error {
	o := e.look()
	o.Brief, grid.Brief = true, true
	e.Sentence("demo.intro")
	e.Printf("\n")
	if err := reports.Lanes(e.Out, story.History, story.Judgement, o); err != nil {
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
