package main

import (
	"cmp"
	"context"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/study"
)

// toleranceLocks are locks whose tolerances differ: a lease, one whose holder stops early, one
// that is renewed, one by clients' clocks, a majority, and a session.
var toleranceLocks = []string{"token", "lock-delay", "watchdog", "client-expiry", "redlock", "zk-protected"}

func toleranceCommand() *command {
	var chosen chartFlags
	return &command{
		use: "tolerance", args: noArguments, tasks: onFleet,
		examples: []string{"tolerance", "tolerance --strategies token,redlock -o tolerance.png -o tolerance.csv"},
		flags:    func(f *flags) { chosen.addUsual(f, strings.Join(toleranceLocks, ",")) },
		run:      func(e *env, _ []string) error { return runTolerance(e, &chosen) },
	}
}

func runTolerance(e *env, chosen *chartFlags) error {
	usual, err := locksNamed(toleranceLocks)
	if err != nil {
		return internal(err)
	}
	entries, err := chosen.pickOr(e, usual)
	if err != nil {
		return err
	}
	drawn, err := findTolerance(e.ctx, e, entries)
	if err == nil {
		drawn.Rates, err = playRates(e.ctx, entries)
	}
	out := toleranceJSON{searchedToJSON(drawn, err), "lease", study.MaxLeases, drawn.Limits, drawn.Rates}
	return cmp.Or(showChart(e, drawn, err, chosen.files, out,
		"locklab tolerance -o tolerance.png", "locklab par", "locklab sweep pause/ttl"), conclude(drawn))
}

// findTolerance makes the searches and returns the chart of their limits.
func findTolerance(ctx context.Context, e *env, entries []lock.Entry) (*chart.Tolerance, error) {
	done, end := e.progress(study.ToleranceCells(len(entries)), "progress.limits")
	found, err := study.FindTolerance(ctx, entries, done)
	end()
	return &chart.Tolerance{Tolerance: *found}, err
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

type toleranceJSON struct {
	searchedJSON
	Unit   string            `json:"unit"`
	Max    float64           `json:"largest_searched"`
	Limits []study.Limit     `json:"limits"`
	Rates  []study.RateLimit `json:"rates,omitempty"` // played, not searched
}
