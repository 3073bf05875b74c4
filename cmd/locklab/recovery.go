package main

import (
	"context"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// defaultTTLs are those of a chart of recoveries.
const defaultTTLs = "2s,10s,30s,60s"

// recoveryFlags are the flags of "locklab recovery".
type recoveryFlags struct {
	chart chartFlags
	ttls  string
	work  time.Duration
}

func recoveryCommand() *command {
	r := &recoveryFlags{ttls: defaultTTLs}
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
	order, err := recoveryOrder(r.ttls, r.work)
	if err != nil {
		return err
	}
	entries, err := r.chart.pick(e)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := order.Check(entry); err != nil {
			return text.Errorf("error.cause", "of", "--ttls", "cause", err)
		}
	}
	files := withNumbers(r.chart.files)
	if err := e.checkOutputs("-o", files...); err != nil {
		return err
	}
	drawn, err := findRecovery(e.ctx, e, entries, order)
	out := recoveryJSON{schema, stoppedBy(err), drawn.Takeaway("en"), drawn.Assumptions("en"), drawn.Recoveries}
	return showChart(e, drawn, err, files, out, "locklab recovery -o recovery.png", "locklab rate", "locklab run token crash-holding")
}

func recoveryOrder(ttls string, hold time.Duration) (o cost.RecoveryOrder, err error) {
	if hold < 0 || hold > time.Hour {
		return o, text.Errorf("error.recovery.work", "value", hold)
	}
	o.Hold = hold
	for _, item := range strings.Split(ttls, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(item))
		switch n := len(o.TTLs); {
		case err != nil || d < 10*time.Millisecond || d > time.Hour:
			return o, text.Errorf("error.recovery.ttl", "value", item)
		case n > 0 && d <= o.TTLs[n-1]:
			return o, text.Errorf("error.rate.ttls.order", "value", item, "before", o.TTLs[n-1])
		}
		o.TTLs = append(o.TTLs, d)
	}
	return o, nil
}

// findRecovery finds the recoveries and returns their chart.
func findRecovery(ctx context.Context, e *env, entries []lock.Entry, o cost.RecoveryOrder) (*chart.RecoveryChart, error) {
	done, end := e.progress(len(entries)*len(o.TTLs), "progress.cells")
	found, err := cost.FindRecovery(ctx, entries, o, done)
	end()
	return &chart.RecoveryChart{Recoveries: found}, err
}

type recoveryJSON struct {
	Version     int             `json:"version"`
	Incomplete  bool            `json:"incomplete,omitempty"`
	Takeaway    string          `json:"takeaway"`
	Assumptions string          `json:"assumptions"`
	Recoveries  []cost.Recovery `json:"recoveries"`
}
