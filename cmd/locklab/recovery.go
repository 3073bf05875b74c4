package main

import (
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
)

func recoveryCommand() *command {
	ttls, work := report.UsualTTLs, time.Duration(0)
	c := &chartFlags{numbers: true, next: []string{"locklab recovery -o recovery.png", "locklab rate", "locklab run token crash-holding"}}
	return &command{
		use: "recovery", args: noArguments, tasks: onFleet,
		examples: []string{"recovery", "recovery --ttls 5s,15s --work 3s --strategies token,watchdog -o recovery.png"},
		flags: func(f *flags) {
			c.add(f)
			f.add("ttls", &ttls)
			f.add("work", &work)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			order, err := report.RecoveryOrder(ttls, work)
			if err != nil {
				return nil, err
			}
			for _, entry := range entries {
				if err := order.Check(entry); err != nil {
					return nil, text.Errorf("error.cause", "of", "--ttls", "cause", err)
				}
			}
			return report.Recovery(e.ctx, e.work, entries, order)
		}),
	}
}
