package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// A drawing is a picture with its numbers.
type drawing interface {
	Title(lang string) string
	Takeaway(lang string) string
	CSV(io.Writer) error
	PNG(io.Writer) error
	SVG(io.Writer) error
}

// chartFormats are the formats of a drawing, by the ending of the file.
var chartFormats = map[string]func(drawing, io.Writer) error{
	".png": drawing.PNG,
	".svg": drawing.SVG,
	".csv": drawing.CSV,
}

// checkCharts refuses files that are no pictures or tables, or that cannot be written,
// before anything is played.
func (a *app) checkCharts(files []string) error {
	for _, f := range files {
		if chartFormats[filepath.Ext(f)] == nil {
			return text.Errorf("error.chart.format", "file", f)
		}
	}
	return a.checkOutputs("-o", files...)
}

func (a *app) writeCharts(d drawing, files []string) (failed error) {
	for _, name := range files {
		failed = errors.Join(failed, a.write(name, replaces, func(w io.Writer) error { return chartFormats[filepath.Ext(name)](d, w) }))
	}
	return failed
}

// A searched drawing shows the results of searches, some of which may be incomplete.
type searched interface {
	drawing
	Text(io.Writer, reports.Options) error
	Inconclusive() bool
}

// showSearched prints a drawing, decides the exit status, and writes the files.
// failed is the error of its searches; after Ctrl-C no file is written.
func showSearched[D searched](a *app, d D, failed error, files []string, asJSON func(d D, stopped bool) any, next []string) error {
	stopped := errors.Is(failed, context.Canceled)
	if failed != nil && !stopped {
		return internal(failed)
	}
	if a.json {
		if err := a.printJSON(asJSON(d, stopped)); err != nil {
			return err
		}
	} else {
		if err := d.Text(a.Out, a.options()); err != nil {
			return internal(err)
		}
		a.Next(next...)
	}
	if stopped {
		return noAnswer("error.stopped.files")
	}
	status := error(nil)
	if d.Inconclusive() {
		status = noAnswer("error.cut.some")
	}
	return errors.Join(status, a.writeCharts(d, files))
}

// A figure is a drawing beside the grid, under the name of its files.
type figure struct {
	name string
	drawing
}

// charts makes the charts of the report.
func (a *app) charts(ctx context.Context, entries []lock.Entry) ([]figure, error) {
	sense, err := a.sensitivity(ctx, entries, defaultSizes(), defaultRuns)
	if err != nil {
		return nil, err
	}
	par, err := a.searchPar(ctx, entries, parBounds(), study.SingleFaults())
	if err != nil {
		return nil, err
	}
	tolerance, err := a.searchTolerance(ctx, entries)
	if err != nil {
		return nil, err
	}
	doom, err := a.showcaseDoom(ctx)
	if err != nil {
		return nil, err
	}
	return []figure{{"sensitivity", sense}, {"par", par}, {"tolerance", tolerance}, {"doom", doom}}, nil
}
