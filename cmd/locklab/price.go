package main

import (
	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/cost"
)

func priceCommand() *command {
	c := &chartFlags{numbers: true, next: []string{"locklab price -o price.png", "locklab matrix", "locklab rate"}}
	return &command{
		use: "price", args: noArguments,
		examples: []string{"price", "price --families one-step,majority -o price.png"},
		flags:    func(f *flags) { c.addUsual(f, f.e.Say("help.flag.strategies.all")) },
		run: c.run(algorithms.All, func(e *env, entries []lock.Entry) (chart.Result, error) {
			w, end := e.work(cost.PriceCells(len(entries)), "progress.cells")
			defer end()
			found, err := cost.FindPrices(e.ctx, entries, w)
			if err != nil {
				return nil, internal(err)
			}
			return &chart.PriceChart{Prices: found}, nil
		}),
	}
}
