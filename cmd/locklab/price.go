package main

import (
	"locklab/algorithms"
	"locklab/reports/chart"
	"locklab/scenarios/cost"
)

func priceCommand() *command {
	c := &chartFlags{numbers: true}
	return &command{
		use: "price", args: noArguments,
		examples: []string{"price", "price --families one-step,majority -o price.png"},
		flags:    func(f *flags) { c.addUsual(f, f.e.Say("help.flag.strategies.all")) },
		run:      func(e *env, _ []string) error { return runPrice(e, c) },
	}
}

func runPrice(e *env, c *chartFlags) error {
	entries, err := c.pick(e, algorithms.All())
	if err != nil {
		return err
	}
	w, end := e.work(cost.PriceCells(len(entries)), "progress.cells")
	found, err := cost.FindPrices(e.ctx, entries, w)
	end()
	if stoppedBy(err) {
		return noAnswer("error.stopped")
	}
	return c.show(e, &chart.PriceChart{Prices: found}, err, "locklab price -o price.png", "locklab matrix", "locklab rate")
}
