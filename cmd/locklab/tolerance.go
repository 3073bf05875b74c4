package main

import (
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/scenarios/study"
)

func toleranceCommand() *command {
	c := &chartFlags{next: []string{"locklab tolerance -o tolerance.png", "locklab par", "locklab sweep pause/ttl"}}
	return &command{
		use: "tolerance", args: noArguments, tasks: onFleet,
		examples: []string{"tolerance", "tolerance --strategies token,redlock -o tolerance.png -o tolerance.csv"},
		flags:    func(f *flags) { c.addUsual(f, strings.Join(report.DifferingLocks, ",")) },
		run:      c.run(differingLocks, drawTolerance),
	}
}

func differingLocks() []lock.Entry {
	locks, err := locksNamed(report.DifferingLocks)
	if err != nil {
		panic(err) // the list names one that there is not
	}
	return locks
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
