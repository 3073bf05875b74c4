package main

import (
	"locklab/algorithms"
	"locklab/reports/chart"
	"locklab/scenarios/cost"
)

func priceCommand() *command {
	var (
		locks lockFlags
		files []string
	)
	return &command{
		use: "price", args: noArguments,
		examples: []string{"price", "price --families one-step,majority -o price.png"},
		flags: func(f *flags) {
			locks.add(f, "all")
			f.out(&files)
		},
		run: func(e *env, _ []string) error { return runPrice(e, &locks, withNumbers(files)) },
	}
}

func runPrice(e *env, locks *lockFlags, files []string) error {
	entries, err := locks.pick(algorithms.All())
	if err != nil {
		return err
	}
	if err := checkCharts(e, files); err != nil {
		return err
	}
	done, end := e.progress(cost.PriceCells(len(entries)), "progress.cells")
	found, err := cost.FindPrices(e.ctx, entries, done)
	end()
	if stoppedBy(err) {
		return noAnswer("error.stopped")
	}
	drawn := &chart.PriceChart{Prices: found}
	return showChart(e, drawn, err, files, priceJSON{schema, drawn.Takeaway("en"), drawn.Assumptions("en"), found},
		"locklab price -o price.png", "locklab matrix", "locklab rate")
}

type priceJSON struct {
	Version     int          `json:"version"`
	Takeaway    string       `json:"takeaway"`
	Assumptions string       `json:"assumptions"`
	Prices      []cost.Price `json:"prices"`
}
