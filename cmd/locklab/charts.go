package main

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
)

// checkCharts refuses files that are no pictures or tables, or that cannot be written,
// before anything is played.
func checkCharts(e *env, files []string, table bool) error {
	for _, f := range files {
		switch {
		case table && filepath.Ext(f) != ".csv":
			return text.Errorf("error.chart.table", "file", f)
		case chart.Formats[filepath.Ext(f)] == nil:
			return text.Errorf("error.chart.format", "file", f)
		}
	}
	return e.checkOutputs("-o", files...)
}

func writeCharts(e *env, t chart.Table, files []string, f chart.Format) (failed error) {
	c, drawn := t.(chart.Chart)
	f.Lang = e.Langs()[0]
	for _, name := range files {
		failed = errors.Join(failed, e.write(name, replaces, func(w io.Writer) error {
			if !drawn {
				return chart.CSV(w, t)
			}
			return chart.Formats[filepath.Ext(name)](w, c, f)
		}))
	}
	return failed
}

// chartFlags choose the locks of a chart and its files.
type chartFlags struct {
	locks   lockFlags
	files   []string
	format  chart.Format
	numbers bool     // every picture gets its CSV beside it
	table   bool     // it has no picture
	next    []string // commands that come next
}

func (c *chartFlags) add(f *flags) { c.addUsual(f, f.e.Say("help.flag.strategies.milestones")) }

// addUsual adds the flags of a chart that has locks of its own where none are named.
func (c *chartFlags) addUsual(f *flags, usual string) {
	c.locks.addUsual(f, usual)
	c.addFiles(f)
}

// addFiles adds the flags of the files of a chart, and of how its pictures are laid out.
func (c *chartFlags) addFiles(f *flags) {
	f.out(&c.files)
	if !c.table {
		f.add("title", &c.format.Title)
		f.add("notes", &c.format.Notes)
	}
}

// A chartFunc computes a chart of locks. An error without a chart is one of wrong use.
type chartFunc func(e *env, entries []lock.Entry) (chart.Result, error)

// run returns what runs a command that draws a chart: of the locks that are chosen, or of the usual ones.
func (c *chartFlags) run(usual func() []lock.Entry, draw chartFunc) func(*env, []string) error {
	return func(e *env, _ []string) error {
		entries, err := c.locks.pick(usual())
		if err := cmp.Or(err, c.check(e)); err != nil {
			return err
		}
		drawn, err := draw(e, entries)
		if drawn == nil {
			return err
		}
		return c.show(e, drawn, err)
	}
}

// noLocks are the usual locks of a chart that needs none.
func noLocks() []lock.Entry { return nil }

// check refuses files that are no charts, or that cannot be written.
func (c *chartFlags) check(e *env) error {
	if c.numbers {
		c.files = withNumbers(c.files)
	}
	return checkCharts(e, c.files, c.table)
}

// show prints a chart, decides the exit status, and writes the files.
// failed is the error of what it draws; after Ctrl-C no file is written.
func (c *chartFlags) show(e *env, drawn chart.Result, failed error) error {
	stopped := stoppedBy(failed)
	if failed != nil && !stopped {
		return internal(failed)
	}
	e.show(chart.JSON(drawn, stopped), func() {
		e.chart(drawn)
		e.Next(c.next...)
	})
	if stopped {
		return noAnswer("error.stopped.files")
	}
	return cmp.Or(writeCharts(e, drawn, c.files, c.format), conclude(drawn))
}

// conclude returns the error of a chart that leaves something unknown.
func conclude(drawn chart.Table) error {
	if searched, ok := drawn.(interface{ Inconclusive() bool }); ok && searched.Inconclusive() {
		return noAnswer("error.cut.some")
	}
	return nil
}

// withNumbers adds a CSV to every picture, so that its numbers can be checked.
func withNumbers(files []string) (all []string) {
	for _, f := range files {
		all = append(all, f)
		csv := strings.TrimSuffix(f, filepath.Ext(f)) + ".csv"
		if !slices.Contains(files, csv) && !slices.Contains(all, csv) {
			all = append(all, csv)
		}
	}
	return all
}
