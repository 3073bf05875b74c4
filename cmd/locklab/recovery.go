package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// defaultTTLs are those of a chart of recoveries.
const defaultTTLs = "2s,10s,30s,60s"

func (a *app) recovery() *cobra.Command {
	var (
		chosen chartFlags
		ttls   string
		hold   time.Duration
	)
	c := &cobra.Command{
		Use:     "recovery",
		Example: a.examples("recovery", "recovery", "recovery --ttls 5s,15s --work 3s --strategies token,watchdog -o recovery.png"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			order, err := recoveryOrder(ttls, hold)
			if err != nil {
				return err
			}
			entries, err := chosen.pick(a)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := order.Check(e); err != nil {
					return text.Errorf("error.cause", "of", "--ttls", "cause", err)
				}
			}
			files := withNumbers(chosen.files)
			if err := a.checkOutputs("-o", files...); err != nil {
				return err
			}
			drawn, err := a.findRecovery(c.Context(), entries, order)
			out := recoveryJSON{schema, errors.Is(err, context.Canceled), drawn.Takeaway("en"), drawn.Assumptions("en"), drawn.Recoveries}
			return a.showChart(drawn, err, files, out, "locklab recovery -o recovery.png", "locklab rate", "locklab run token crash-holding")
		},
	}
	f, usage := c.Flags(), a.usage("recovery")
	chosen.add(a, f, "recovery")
	f.StringVar(&ttls, "ttls", defaultTTLs, usage("ttls"))
	f.DurationVar(&hold, "work", 0, usage("work"))
	return c
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
func (a *app) findRecovery(ctx context.Context, entries []lock.Entry, o cost.RecoveryOrder) (*chart.RecoveryChart, error) {
	done, end := a.progress(len(entries)*len(o.TTLs), "progress.cells")
	found, err := cost.FindRecovery(ctx, entries, o, done)
	end()
	return &chart.RecoveryChart{Recoveries: found, Lang: a.Langs()[0]}, err
}

type recoveryJSON struct {
	Version     int             `json:"version"`
	Incomplete  bool            `json:"incomplete,omitempty"`
	Takeaway    string          `json:"takeaway"`
	Assumptions string          `json:"assumptions"`
	Recoveries  []cost.Recovery `json:"recoveries"`
}
