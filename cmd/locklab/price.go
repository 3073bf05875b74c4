package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/reports/chart"
	"locklab/scenarios/cost"
)

func (a *app) price() *cobra.Command {
	var (
		locks lockFlags
		files []string
	)
	c := &cobra.Command{
		Use:     "price",
		Example: a.examples("price", "price", "price --families one-step,majority -o price.png"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := locks.pick(a, algorithms.All())
			if err != nil {
				return err
			}
			files := withNumbers(files)
			if err := a.checkCharts(files); err != nil {
				return err
			}
			done, end := a.progress(cost.PriceCells(len(entries)), "progress.cells")
			found, err := cost.FindPrices(c.Context(), entries, done)
			end()
			if errors.Is(err, context.Canceled) {
				return noAnswer("error.stopped")
			}
			drawn := &chart.PriceChart{Prices: found, Lang: a.Langs()[0]}
			return a.showChart(drawn, err, files, priceJSON{schema, drawn.Takeaway("en"), drawn.Assumptions("en"), found},
				"locklab price -o price.png", "locklab matrix", "locklab rate")
		},
	}
	f := c.Flags()
	locks.add(a, f, "all")
	f.StringArrayVarP(&files, "out", "o", nil, a.usage("price")("out"))
	return c
}

type priceJSON struct {
	Version     int          `json:"version"`
	Takeaway    string       `json:"takeaway"`
	Assumptions string       `json:"assumptions"`
	Prices      []cost.Price `json:"prices"`
}
