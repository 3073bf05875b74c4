package main

import (
	"context"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/report"
	"locklab/scenarios/study"
)

func toleranceCommand() *command {
	var chosen chartFlags
	return &command{
		use: "tolerance", args: noArguments, tasks: onFleet,
		examples: []string{"tolerance", "tolerance --strategies token,redlock -o tolerance.png -o tolerance.csv"},
		flags:    func(f *flags) { chosen.addUsual(f, strings.Join(report.DifferingLocks, ",")) },
		run:      func(e *env, _ []string) error { return runTolerance(e, &chosen) },
	}
}

func runTolerance(e *env, chosen *chartFlags) error {
	usual, err := locksNamed(report.DifferingLocks)
	if err != nil {
		return internal(err)
	}
	entries, err := chosen.pick(e, usual)
	if err != nil {
		return err
	}
	drawn, err := report.Tolerance(e.ctx, e.work, entries)
	if err == nil {
		drawn.Rates, err = playRates(e.ctx, entries)
	}
	return chosen.show(e, drawn, err, "locklab tolerance -o tolerance.png", "locklab par", "locklab sweep pause/ttl")
}

// rateRaces are the races in which a clock runs at a wrong rate: a client's, and servers'.
var rateRaces = []string{"clock-drift", "server-drift"}

// playRates plays how wrong a clock may run.
func playRates(ctx context.Context, entries []lock.Entry) ([]study.RateLimit, error) {
	races, err := pickRaces(rateRaces)
	if err != nil {
		return nil, err
	}
	return study.FindRates(ctx, entries, races)
}
