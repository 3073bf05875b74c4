package main

import (
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/scenarios/study"
)

// toleranceLocks are locks whose tolerances differ: a lease, one whose holder stops early, one that is renewed, one by
// clients' clocks, a majority, and a session.
var toleranceLocks = []string{"token", "lock-delay", "watchdog", "client-expiry", "redlock", "zk-protected"}

func toleranceChart() *figure {
	d := &figure{named: toleranceLocks, minutes: true, each: 3, next: []string{
		"locklab chart tolerance -o tolerance.png", "locklab chart par", "locklab chart sweep pause/ttl"}}
	d.command = &command{
		use: "tolerance", texts: []string{"tolerance", "chart"},
		examples: []string{"chart tolerance",
			"chart tolerance --locks token,redlock -o tolerance.png -o tolerance.csv"},
		flags: func(*flags) {},
	}
	d.draw = func(e *env, entries []lock.Entry) (chart.Result, error) {
		return findTolerance(e, entries)
	}
	d.report = func(e *env, r *report.Report, charted []lock.Entry) (chart.Result, error) {
		if len(r.Locks) > len(charted) { // nobody chose so few
			charted = d.usual()
		}
		return findTolerance(e, charted)
	}
	return d
}

// findTolerance searches for the size at which a single fault breaks each lock.
func findTolerance(e *env, entries []lock.Entry) (*chart.Tolerance, error) {
	w, end := e.work(study.ToleranceCells(len(entries)), "progress.limits")
	defer end()
	found, err := study.FindTolerance(e.ctx, entries, w)
	return &chart.Tolerance{Tolerance: *found}, err
}
