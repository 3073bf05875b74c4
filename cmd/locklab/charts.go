package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// chartFormats are the formats of a chart, by the ending of the file.
var chartFormats = map[string]func(w io.Writer, c chart.Chart, lang string) error{
	".png": func(w io.Writer, c chart.Chart, lang string) error { return chart.PNG(w, c, lang) },
	".svg": func(w io.Writer, c chart.Chart, lang string) error { return chart.SVG(w, c, lang) },
	".csv": func(w io.Writer, c chart.Chart, _ string) error { return chart.CSV(w, c) },
}

// darkPNG ends the names of pictures on a dark ground. An SVG is as dark as its reader.
const darkPNG = ".dark.png"

// checkCharts refuses files that are no pictures or tables, or that cannot be written,
// before anything is played.
func checkCharts(e *env, files []string) error {
	for _, f := range files {
		if chartFormats[filepath.Ext(f)] == nil {
			return text.Errorf("error.chart.format", "file", f)
		}
	}
	return e.checkOutputs("-o", files...)
}

// grounded returns what draws a picture on the ground that its name wants.
func grounded(name string, w io.Writer) io.Writer {
	if strings.HasSuffix(name, darkPNG) {
		return chart.Dark{Writer: w}
	}
	return w
}

func writeCharts(e *env, c chart.Chart, files []string) (failed error) {
	for _, name := range files {
		failed = errors.Join(failed, e.write(name, replaces, func(w io.Writer) error {
			return chartFormats[filepath.Ext(name)](grounded(name, w), c, e.Langs()[0])
		}))
	}
	return failed
}

// chartFlags choose the locks of a chart and its files.
type chartFlags struct {
	locks lockFlags
	files []string
}

func (c *chartFlags) add(f *flags) { c.addUsual(f, f.e.Say("help.flag.strategies.milestones")) }

// addUsual adds the flags of a chart that has locks of its own where none are named.
func (c *chartFlags) addUsual(f *flags, usual string) {
	c.locks.addUsual(f, usual)
	f.out(&c.files)
}

// pick returns the locks. The error may be about them or about the files.
func (c *chartFlags) pick(e *env) ([]lock.Entry, error) { return c.pickOr(e, algorithms.Milestones()) }

func (c *chartFlags) pickOr(e *env, usual []lock.Entry) ([]lock.Entry, error) {
	entries, err := c.locks.pick(usual)
	return entries, cmp.Or(err, checkCharts(e, c.files))
}

// showChart prints a chart, decides the exit status, and writes the files.
// failed is the error of what it draws; after Ctrl-C no file is written.
func showChart(e *env, c chart.Chart, failed error, files []string, asJSON any, next ...string) error {
	stopped := stoppedBy(failed)
	if failed != nil && !stopped {
		return internal(failed)
	}
	if e.json {
		if err := e.printJSON(asJSON); err != nil {
			return err
		}
	} else {
		if err := chart.Text(e.Out, c, e.options()); err != nil {
			return internal(err)
		}
		e.Next(next...)
	}
	if stopped {
		return noAnswer("error.stopped.files")
	}
	return writeCharts(e, c, files)
}

// A searched chart shows the results of searches, some of which may be incomplete.
type searched interface {
	chart.Chart
	Bounds(lang string) string
	Inconclusive() bool
}

// conclude returns the error of a chart that leaves something unknown.
func conclude(d searched) error {
	if d.Inconclusive() {
		return noAnswer("error.cut.some")
	}
	return nil
}

// searchedJSON begins the JSON of a searched chart.
type searchedJSON struct {
	Version    int    `json:"version"`
	Incomplete bool   `json:"incomplete,omitempty"`
	Takeaway   string `json:"takeaway"`
	Bounds     string `json:"bounds"`
}

func searchedToJSON(d searched, failed error) searchedJSON {
	return searchedJSON{schema, stoppedBy(failed), d.Takeaway("en"), d.Bounds("en")}
}

// A figure is a chart beside the grid, under the name of its files.
type figure struct {
	name string
	chart.Chart
}

// charts makes the charts of the report: of some locks, and the prices of all, which have
// been played.
func reportFigures(ctx context.Context, e *env, entries, all []lock.Entry, outcomes []*race.Outcome) ([]figure, error) {
	sense, err := findSensitivity(ctx, e, entries, defaultSizes(), defaultRuns)
	if err != nil {
		return nil, err
	}
	par, err := findPars(ctx, e, entries, parBounds(), study.SingleFaults())
	if err != nil {
		return nil, err
	}
	differing := entries
	if len(all) > len(entries) { // a choice was made already: the chart has its own
		if differing, err = locksNamed(toleranceLocks); err != nil {
			return nil, err
		}
	}
	limits, err := findTolerance(ctx, e, union(entries, differing))
	if err != nil {
		return nil, err
	}
	tolerance := &chart.Tolerance{Tolerance: limits.Only(differing)}
	known := limits.Only(entries)
	doom, err := study.ShowcaseDoom(ctx)
	if err != nil {
		return nil, err
	}
	rates, err := cost.FindRates(ctx, cost.UsualRateOrder(), &known)
	if err != nil {
		return nil, err
	}
	prices, err := cost.PricesOf(ctx, all, outcomes)
	if err != nil {
		return nil, err
	}
	figures := []figure{{"rate", &chart.Rate{Rates: *rates}}, {"price", &chart.PriceChart{Prices: prices}}}
	costs, err := costCharts(ctx, e, entries)
	if err != nil {
		return nil, err
	}
	return append(append(figures, costs...), figure{"sensitivity", sense}, figure{"par", par}, figure{"tolerance", tolerance}, figure{"doom", &chart.Doom{Doom: doom}}), nil
}

// costCharts are those that are smaller than what "locklab recovery", "locklab waiting" and
// "locklab sweep" draw: each takes less than two seconds.
func costCharts(ctx context.Context, e *env, entries []lock.Entry) (figures []figure, err error) {
	order, err := recoveryOrder(defaultTTLs, 0)
	if err != nil {
		return nil, err
	}
	crashing := slices.DeleteFunc(slices.Clone(entries), func(entry lock.Entry) bool { return order.Check(entry) != nil })
	if len(crashing) > 0 {
		recovery, err := findRecovery(ctx, e, crashing, order)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{"recovery", recovery})
	}
	load := cost.UsualLoad()
	waits, err := cost.FindWaiting(ctx, cost.Policies(), []int{2, 10, 25}, load, func(int) {})
	if err != nil {
		return nil, err
	}
	sweep, err := study.ShowcaseSweep(ctx)
	if err != nil {
		return nil, err
	}
	return append(figures, figure{"waiting", &chart.WaitingChart{Load: load, Results: waits}}, figure{"sweep", &chart.Sweep{Sweep: *sweep}}), nil
}

// union is a, and what b has besides.
func union(a, b []lock.Entry) []lock.Entry {
	all := slices.Clone(a)
	for _, e := range b {
		if !slices.ContainsFunc(a, func(o lock.Entry) bool { return o.ID == e.ID }) {
			all = append(all, e)
		}
	}
	return all
}
