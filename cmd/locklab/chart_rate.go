package main

import (
	"cmp"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

func rateChart() *figure {
	var pauses []string
	order := cost.UsualRateOrder()
	d := &figure{usual: algorithms.Milestones, minutes: true, each: 3,
		next: []string{"locklab chart rate --locks token", "locklab chart rate -o rate.png", "locklab chart tolerance"}}
	d.command = &command{
		use: "rate",
		examples: []string{"chart rate",
			`chart rate --ttl 30s --pause "4/year 45s" --locks token,watchdog -o rate.png`,
			"chart rate --locks token"},
		flags: func(f *flags) {
			ranged(f, "machines", &order.Machines, 1, 1e9)
			ranged(f, "acquisitions", &order.PerSecond, 1e-9, 1e9)
			ranged(f, "contended", &order.Contended, 0, 1)
			ranged(f, "work", &order.Work, time.Millisecond, 1000*time.Hour)
			ranged(f, "ttl", &order.TTL, time.Millisecond, 1000*time.Hour)
			f.add("pause-stops-work", &order.PauseStopsWork)
			f.each("pause", &pauses)
		},
	}
	d.draw = func(e *env, entries []lock.Entry) (chart.Result, error) {
		if err := cmp.Or(namePauses(&order, pauses), order.Check()); err != nil {
			return nil, err
		}
		known, err := findTolerance(e, entries)
		if err != nil {
			return nil, internal(err)
		}
		found, err := cost.FindRates(e.ctx, order, &known.Tolerance)
		if err != nil {
			return nil, internal(err)
		}
		return &chart.Rate{Rates: *found}, nil
	}
	d.report = func(e *env, r *report.Report, charted []lock.Entry) (chart.Result, error) {
		order.PauseStopsWork = !r.Waits
		return d.draw(e, charted)
	}
	return d
}

// namePauses puts the pauses that are named, if there are any, in place of those of the sources.
func namePauses(order *cost.RateOrder, written []string) error {
	if len(written) > 0 {
		order.Sources = nil
	}
	for _, pause := range written {
		source, err := cost.ParseSource(pause)
		if err != nil {
			return text.Errorf("error.cause", "of", "--pause", "cause", err)
		}
		order.Sources = append(order.Sources, source)
	}
	return nil
}
