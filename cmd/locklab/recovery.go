package main

import (
	"time"

	"locklab/algorithms"
	"locklab/reports/report"
	"locklab/reports/text"
)

// recoveryFlags are the flags of "locklab recovery".
type recoveryFlags struct {
	chart chartFlags
	ttls  string
	work  time.Duration
}

func recoveryCommand() *command {
	r := &recoveryFlags{chart: chartFlags{numbers: true}, ttls: report.UsualTTLs}
	return &command{
		use: "recovery", args: noArguments, flags: r.add, run: r.run, tasks: onFleet,
		examples: []string{"recovery", "recovery --ttls 5s,15s --work 3s --strategies token,watchdog -o recovery.png"},
	}
}

func (r *recoveryFlags) add(f *flags) {
	r.chart.add(f)
	f.add("ttls", &r.ttls)
	f.add("work", &r.work)
}

func (r *recoveryFlags) run(e *env, _ []string) error {
	order, err := report.RecoveryOrder(r.ttls, r.work)
	if err != nil {
		return err
	}
	entries, err := r.chart.pick(e, algorithms.Milestones())
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := order.Check(entry); err != nil {
			return text.Errorf("error.cause", "of", "--ttls", "cause", err)
		}
	}
	drawn, err := report.Recovery(e.ctx, e.work, entries, order)
	return r.chart.show(e, drawn, err, "locklab recovery -o recovery.png", "locklab rate", "locklab run token crash-holding")
}
