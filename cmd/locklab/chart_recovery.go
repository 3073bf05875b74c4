package main

import (
	"slices"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

func recoveryChart() *figure {
	order := cost.RecoveryOrder{TTL: 10 * time.Second}
	d := &figure{usual: algorithms.Milestones, each: 0.3, next: []string{
		"locklab chart recovery -o recovery.png", "locklab chart rate", "locklab run token crash-holding"}}
	d.command = &command{
		use: "recovery",
		examples: []string{"chart recovery",
			"chart recovery --ttl 15s --work 1m --locks token,watchdog -o recovery.png"},
		flags: func(f *flags) {
			ranged(f, "ttl", &order.TTL, time.Second, time.Hour)
			ranged(f, "work", &order.Work, 0, time.Hour)
		},
	}
	d.draw = func(e *env, entries []lock.Entry) (chart.Result, error) {
		for _, entry := range entries {
			if err := order.Check(entry); err != nil {
				return nil, text.Errorf("error.cause", "of", "--ttl", "cause", err)
			}
		}
		w, end := e.work(len(entries), "progress.crashes")
		defer end()
		found, err := cost.FindRecovery(e.ctx, entries, order, w)
		return &chart.RecoveryChart{Recoveries: found}, err
	}
	d.report = func(e *env, _ *report.Report, charted []lock.Entry) (chart.Result, error) {
		crashing := slices.DeleteFunc(slices.Clone(charted), func(l lock.Entry) bool { return order.Check(l) != nil })
		if len(crashing) == 0 {
			return nil, nil
		}
		return d.draw(e, crashing)
	}
	return d
}
