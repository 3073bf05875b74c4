package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/study"
)

// A drawing is what a command shows as a picture, with its numbers.
type drawing interface {
	Title(lang string) string
	Takeaway(lang string) string
	CSV(io.Writer) error
	PNG(io.Writer) error
	SVG(io.Writer) error
}

// chartFormats are the files that a drawing can become.
var chartFormats = map[string]func(drawing, io.Writer) error{
	".png": drawing.PNG,
	".svg": drawing.SVG,
	".csv": drawing.CSV,
}

// checkCharts refuses files that what cannot become, or that cannot be written,
// before anything is played.
func checkCharts(files []string, what string) error {
	for _, f := range files {
		if chartFormats[filepath.Ext(f)] == nil {
			return fmt.Errorf("-o %s: %s can be written as .png, .svg or .csv", f, what)
		}
		if err := writable(filepath.Dir(f)); err != nil {
			return fmt.Errorf("-o %s: %w", f, err)
		}
	}
	return nil
}

func (a *app) writeCharts(d drawing, files []string) error {
	for _, name := range files {
		if err := a.write(name, func(w io.Writer) error { return chartFormats[filepath.Ext(name)](d, w) }); err != nil {
			return err
		}
	}
	return nil
}

// A searched drawing rests on searches, some of which may have been cut short.
type searched interface {
	drawing
	Text(io.Writer, reports.Options) error
	Inconclusive() bool
}

// showSearched writes the files of a drawing that rests on searches, prints it,
// and settles the exit status. A search that somebody stopped writes no file.
func (a *app) showSearched(d searched, stopped bool, files []string, asJSON any, next []string) error {
	if !stopped {
		if err := a.writeCharts(d, files); err != nil {
			return err
		}
	}
	if a.json {
		if err := a.printJSON(asJSON); err != nil {
			return err
		}
	} else {
		if err := d.Text(a.stdout, a.options()); err != nil {
			return internal(err)
		}
		a.next(next...)
	}
	switch {
	case stopped:
		return errStopped
	case d.Inconclusive():
		return &exitError{exitUntold, errors.New("a search was cut short: what it did not visit is unknown")}
	}
	return nil
}

// errStopped is the end of a search that somebody interrupted.
var errStopped = &exitError{exitUntold, errors.New("stopped before the end: what is printed is incomplete, and no file was written")}

// A chart is a drawing beside the grid, under the name of its files.
type chart struct {
	name string
	drawing
}

// charts plays and searches what the report's charts show.
func (a *app) charts(ctx context.Context, entries []lock.Entry) ([]chart, error) {
	sense, err := a.sensitivity(ctx, entries, defaultSizes(), defaultRuns)
	if err != nil {
		return nil, err
	}
	par, err := a.searchPar(ctx, entries, parBounds(), study.SingleFaults())
	if err != nil {
		return nil, err
	}
	frontier, err := a.searchFrontier(ctx, entries)
	if err != nil {
		return nil, err
	}
	doom, err := a.showcaseDoom(ctx)
	if err != nil {
		return nil, err
	}
	return []chart{{"sensitivity", sense}, {"par", par}, {"frontier", frontier}, {"doom", doom}}, nil
}
