package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

type matrixJSON struct {
	Incomplete bool       `json:"incomplete,omitempty"`
	Cells      []cellJSON `json:"cells"`
}

func cellsJSON(outcomes []*race.Outcome) []cellJSON {
	return append([]cellJSON{}, lists.Each(outcomes, cellOf)...)
}

// matrixFlags are the flags of "locklab matrix".
type matrixFlags struct {
	locks lockFlags
	races []string
	dir   string
	all   bool // charts, also those that take minutes
	stops bool // a pause stops the work, in the charts of a report; see study.Situation
}

func matrixCommand() *command {
	m := &matrixFlags{stops: true}
	return &command{
		use: "matrix", args: noArguments, run: m.run,
		flags: func(f *flags) {
			m.locks.add(f, f.e.Say("help.flag.locks.all"))
			f.add("races", &m.races)
			f.outTo(&m.dir)
			f.add("all", &m.all)
			f.add("pause-stops-work", &m.stops)
		},
	}
}

func (m *matrixFlags) run(e *env, _ []string) error {
	entries, err := m.locks.pick(algorithms.All())
	if err != nil {
		return err
	}
	scs, err := pickRaces(m.races)
	if err != nil {
		return err
	}
	if m.all && m.dir == "" {
		return text.Errorf("error.matrix.all")
	}
	if runFormats[ending(m.dir)] != nil || chart.Drawn(ending(m.dir)) {
		return text.Errorf("error.matrix.folder", "dir", m.dir)
	}
	if m.dir != "" {
		if err := e.makeFolder(m.dir); err != nil {
			return err
		}
	}
	e.command = commandLine(canonical(e.running, nil),
		flagsOf(e.running, func(name string) bool { return name == "out" || name == "all" }))
	return m.play(e, entries, scs)
}

// reportMemory is the garbage collector's limit while a report is made, in bytes. Garbage grows up to there, which
// saves a fifth of the time. The report holds 200 MB: a limit near that would cost more time than all the rest.
const reportMemory = 1 << 30

func (m *matrixFlags) play(e *env, entries []lock.Entry, scs []race.Race) error {
	done := func() {}
	var shown *report.Collector // what the report shows of the runs
	show := func(*race.Outcome) {}
	if m.dir != "" {
		defer debug.SetGCPercent(debug.SetGCPercent(300))
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(reportMemory))
		shown = report.NewCollector(e.Langs())
		show = shown.Add
		played := float64(len(entries)*len(scs)) * 2.4e-3
		seconds := played + figureSeconds(entries, m.all)
		if m.locks.names == nil { // a page of all locks is more than most readers want
			n, races := len(lists.Pick(entries, func(l lock.Entry) bool { return l.Guard == "" })), fmt.Sprint(len(scs))
			e.inform("matrix.all", "locks", fmt.Sprint(n), "without", fmt.Sprint(len(entries)-n), "races", races)
		}
		e.whole = &whole{seconds: seconds}
		e.whole.done, done = e.progress(100, "progress.whole")
		e.whole.begin(played)
	}
	w, end := e.work(len(entries)*len(scs), "progress.cells")
	cells, err := study.Matrix(e.ctx, entries, scs, show, w)
	end()
	stopped := stoppedBy(err)
	if err != nil && !stopped {
		done()
		return internal(err)
	}
	grid := report.Grid(entries, scs, cells)
	flat := flatten(cells)
	complete := !stopped && len(flat) == len(entries)*len(scs)
	var files []report.File
	if m.dir != "" && complete {
		r := &report.Report{
			Printer: e.Printer, Command: e.remake(), Dir: m.dir, Locks: entries, Grid: grid, Outcomes: flat,
			Source: report.Source(commandLine(canonical(e.running, nil)) + " -o out"),
			Runs:   shown.Runs(), Waits: !m.stops,
		}
		files, err = reportFiles(e, r, m.all)
	}
	done()
	var failed error
	switch {
	case !complete:
		failed = noAnswer("error.stopped.cells", "played", len(flat), "all", len(entries)*len(scs))
	case err != nil && e.ctx.Err() != nil:
		failed = noAnswer("error.stopped.charts")
	case err != nil:
		failed = internal(err)
	default:
		failed = writeAll(e, m.dir, files)
	}
	showHere(e, failed, "matrix", matrixJSON{!complete, cellsJSON(flat)}, func() {
		e.chart(grid)
		e.Next("locklab run token gc-pause", "locklab explain R18", "locklab matrix -o out")
		if !complete {
			e.Printf("%s\n", e.Error(failed))
		}
	})
	return cmp.Or(failed, deviations(flat))
}

// deviations returns an error that names the cells that differ from the contract, each with the command that plays it.
func deviations(outcomes []*race.Outcome) error {
	var bad []error
	for _, o := range outcomes {
		if !contract.AsExpected(o) {
			bad = append(bad, text.Errorf("error.cell", "lock", o.Lock.ID, "race", o.Race.ID,
				"want", reports.Words(contract.Expected(o)), "got", reports.Words(o.Verdicts),
				"triggered", fmt.Sprint(o.Triggered)))
		}
	}
	if bad == nil {
		return nil
	}
	return &exitError{exitDiffers, text.Errorf("error.cells", "cells", text.Lines(bad))}
}

// flatten returns the cells that were played.
func flatten(cells [][]*race.Outcome) []*race.Outcome {
	return lists.Pick(slices.Concat(cells...), func(o *race.Outcome) bool { return o != nil })
}

// writeAll writes files into a folder after all of them are drawn; if the user stops it before, it writes none.
func writeAll(e *env, dir string, files []report.File) (err error) {
	drawn := make([]bytes.Buffer, len(files))
	for i, f := range files {
		if e.ctx.Err() != nil {
			return noAnswer("error.stopped.charts")
		}
		if err := f.Fill(&drawn[i]); err != nil {
			return internal(fmt.Errorf("%s: %w", f.Name, err))
		}
	}
	for i, f := range files {
		name := filepath.Join(dir, f.Name)
		failed := internal(e.replace("-o", name))
		if failed == nil {
			failed = e.write(name, copyOf(&drawn[i]))
		}
		err = errors.Join(err, failed)
	}
	return err
}
