package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/motion"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

type cellJSON struct {
	Strategy   string         `json:"strategy"`
	Article    string         `json:"article"`
	Scenario   string         `json:"scenario"`
	Race       string         `json:"race"`
	Verdicts   []verdict.Word `json:"verdicts"`
	Contracted *bool          `json:"contracted,omitempty"` // false: the contract does not cover the cell; absent else
	Expected   []verdict.Word `json:"expected"`             // null if not covered
	AsExpected *bool          `json:"as_expected"`          // likewise
	Triggered  bool           `json:"triggered"`
	Why        string         `json:"why,omitempty"`    // the contract's reason, in English
	WhyZH      string         `json:"why_zh,omitempty"` // and in Chinese
	Trace      string         `json:"trace"`
	Runs       int            `json:"runs,omitempty"`   // seeded runs played beside the story
	Broken     int            `json:"broken,omitempty"` // how many of them broke the lock
}

type matrixJSON struct {
	Version    int        `json:"version"`
	Incomplete bool       `json:"incomplete,omitempty"`
	Cells      []cellJSON `json:"cells"`
}

func cellsJSON(outcomes []*race.Outcome) []cellJSON {
	cells := []cellJSON{}
	for _, o := range outcomes {
		contracted, expected, asExpected := againstContract(o)
		cells = append(cells, cellJSON{
			Strategy: o.Strategy.ID, Article: o.Strategy.Article, Scenario: o.Scenario.ID, Race: o.Scenario.Race,
			Verdicts: o.Verdicts, Contracted: contracted, Expected: expected, AsExpected: asExpected, Triggered: o.Reached,
			Why: lessons.Why("en", o.Strategy, o.Scenario), WhyZH: lessons.Why("zh", o.Strategy, o.Scenario),
			Trace: o.Trace.Link(), Runs: o.Runs, Broken: o.Broken,
		})
	}
	return cells
}

// matrixFlags are the flags of "locklab matrix".
type matrixFlags struct {
	locks lockFlags
	races []string
	runs  int
	dir   string
}

func matrixCommand() *command {
	m := &matrixFlags{}
	return &command{use: "matrix", args: noArguments, flags: m.add, run: m.run, tasks: onFleet}
}

func (m *matrixFlags) add(f *flags) {
	m.locks.add(f, "all")
	f.add("scenarios", &m.races)
	f.add("runs", &m.runs)
	f.outTo(&m.dir)
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
	if m.runs < 0 || m.runs > 100_000 {
		return text.Errorf("error.runs", "value", m.runs, "least", "0", "most", "100000")
	}
	if m.dir != "" {
		if err := writableDir(m.dir); err != nil {
			return text.Errorf("error.out", "flag", "-o", "file", m.dir, "cause", err)
		}
	}
	e.command = commandLine(canonical(e.running, nil), flagsOf(e.running, func(name string) bool { return name == "out" }))
	return playMatrix(e, entries, scs, m.runs, m.dir)
}

// reportMemory is the limit that the garbage collector gets while a report is made, in
// bytes. Up to there it lets garbage grow, which saves a fifth of the time. The report
// holds 200 MB: a limit near that would cost more time than all the rest.
const reportMemory = 1 << 30

func playMatrix(e *env, entries []lock.Entry, scs []race.Scenario, runs int, dir string) error {
	if dir != "" {
		defer debug.SetGCPercent(debug.SetGCPercent(300))
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(reportMemory))
	}
	done, end := e.progress(study.MatrixSteps(len(entries), len(scs), runs), "progress.cells")
	var shown *collector // what the report shows of the runs
	show := func(*race.Outcome) {}
	if dir != "" {
		shown = newCollector(e.Langs())
		show = shown.add
	}
	cells, err := study.Matrix(e.ctx, entries, scs, runs, show, done)
	end()
	stopped := stoppedBy(err)
	if err != nil && !stopped {
		return internal(err)
	}
	grid := gridOf(entries, scs, cells)
	flat, complete := flatten(cells)
	if e.json {
		err = e.printJSON(matrixJSON{Version: schema, Incomplete: !complete, Cells: cellsJSON(flat)})
	} else {
		err = printGrid(e, grid, flat, runs)
	}
	if err != nil {
		return err
	}
	if stopped || !complete {
		err := noAnswer("error.stopped.cells", "played", len(flat), "all", len(entries)*len(scs))
		if !e.json {
			e.Printf("%s\n", e.Error(err))
		}
		return err
	}
	if dir != "" {
		if stopped, err = writeReport(e, dir, entries, grid, firstOf(grid), flat, shown.runs()); err != nil {
			return err
		}
		if stopped {
			return noAnswer("error.stopped.charts")
		}
	}
	return deviations(flat)
}

// deviations returns an error that names the cells that differ from the contract, each
// with the command that plays it again.
func deviations(outcomes []*race.Outcome) error {
	var bad []error
	for _, o := range outcomes {
		if !contract.AsExpected(o) {
			bad = append(bad, text.Errorf("error.cell", "lock", o.Strategy.ID, "race", o.Scenario.ID,
				"want", lessons.Words(contract.Expected(o)), "got", lessons.Words(o.Verdicts), "triggered", fmt.Sprint(o.Reached)))
		}
	}
	if bad == nil {
		return nil
	}
	return &exitError{exitDiffers, text.Errorf("error.cells", "cells", text.Lines(bad))}
}

func flatten(cells [][]*race.Outcome) (flat []*race.Outcome, complete bool) {
	complete = true
	for _, row := range cells {
		for _, o := range row {
			if o == nil {
				complete = false
				continue
			}
			flat = append(flat, o)
		}
	}
	return flat, complete
}

func printGrid(e *env, grid *chart.Grid, outcomes []*race.Outcome, runs int) error {
	if err := chart.Text(e.Out, grid, e.options()); err != nil {
		return internal(err)
	}
	if runs > 0 {
		printCounts(e, outcomes)
	}
	e.Next("locklab run token gc-pause", "locklab explain R18", "locklab matrix -o out")
	return nil
}

// printCounts prints how often each lock failed, with the confidence interval of the
// count.
func printCounts(e *env, outcomes []*race.Outcome) {
	e.Printf("\n%s\n", e.Say("matrix.counts"))
	for _, o := range outcomes {
		if o.Runs == 0 {
			continue
		}
		lo, hi := study.Wilson(o.Broken, o.Runs)
		e.Printf("  %-20s %-13s %5d/%d  %5.1f%% - %5.1f%%\n", o.Scenario.ID, o.Strategy.ID, o.Broken, o.Runs, 100*lo, 100*hi)
	}
}

// gridOf turns outcomes into what reports draw. A nil outcome was not played.
func gridOf(entries []lock.Entry, scs []race.Scenario, cells [][]*race.Outcome) *chart.Grid {
	g := &chart.Grid{}
	for _, sc := range scs {
		g.Scenarios = append(g.Scenarios, chart.Column{ID: sc.ID, Race: sc.Race})
	}
	for l, e := range entries {
		g.Strategies = append(g.Strategies, chart.Row{ID: e.ID, Article: e.Article, Group: string(e.Family)})
		row := make([]chart.Cell, len(scs))
		for s := range scs {
			row[s] = cellOf(e, scs[s], cells[s][l])
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

func cellOf(e lock.Entry, sc race.Scenario, o *race.Outcome) chart.Cell {
	c := chart.Cell{Strategy: e.ID, Article: e.Article, Scenario: sc.ID, Race: sc.Race, Why: string(contract.Why(e, sc)), Verdicts: []verdict.Word{verdict.Unknown}, Uncontracted: contract.Uncontracted(e, sc)}
	if o != nil { // nil was not played: unknown, and not as expected
		c.Verdicts, c.Expected, c.AsExpected, c.Reached = o.Verdicts, contract.Expected(o), contract.AsExpected(o), o.Reached
		c.NotApplicable = string(o.NotApplicable)
		c.Blocked, c.Overlap = lessons.Longest(o, verdict.Blocked), lessons.Longest(o, verdict.Overlap)
	}
	return c
}

// writeReport writes the files of -o.
func writeReport(e *env, dir string, entries []lock.Entry, grid, first *chart.Grid, outcomes []*race.Outcome, runs map[string]*motion.Book) (stopped bool, err error) {
	figures, err := reportFigures(share.With(e.ctx, nil, nil), e, charted(entries), entries, outcomes) // no part of what is shared
	if stoppedBy(err) {
		return true, nil
	}
	if err != nil {
		return false, internal(err)
	}
	files := []reportFile{
		{"grid.txt", func(w io.Writer) error { return chart.Text(w, grid, reports.Options{Width: defaultWidth}) }},
		{"grid.csv", func(w io.Writer) error {
			addLinks(grid, outcomes)
			return chart.CSV(w, grid)
		}},
	}
	add := func(c chart.Chart, name string, endings ...string) {
		for _, ending := range endings {
			files = append(files, reportFile{name + ending, func(w io.Writer) error { return chartFormats[ending](w, c, e.Langs()[0]) }})
		}
	}
	if first == nil {
		add(grid, "grid", ".png", ".svg")
	} else {
		add(first, "grid", ".png", ".svg")
		add(grid, "poster", ".png", ".svg")
	}
	for _, f := range figures {
		add(f.Chart, f.name, ".csv", ".png", ".svg")
	}
	files = append(files, reportFile{"report.html", func(w io.Writer) error {
		report, err := reportPage(e, grid, first, figures, runs, dir, e.command)
		if err != nil {
			return err
		}
		return page.Write(w, report)
	}})
	return writeAll(e, dir, files)
}

// writeAll writes files into a folder, after all of them are drawn; if the user stops it before, it writes none.
func writeAll(e *env, dir string, files []reportFile) (stopped bool, err error) {
	drawn := make([]bytes.Buffer, len(files))
	for i, f := range files {
		if e.ctx.Err() != nil {
			return true, nil
		}
		if err := f.fill(&drawn[i]); err != nil {
			return false, internal(fmt.Errorf("%s: %w", f.name, err))
		}
	}
	for i, f := range files {
		err = errors.Join(err, e.write(filepath.Join(dir, f.name), replaces, func(w io.Writer) error {
			_, err := drawn[i].WriteTo(w)
			return err
		}))
	}
	return false, err
}

// addLinks adds the links of the runs to the cells of a grid. They take seconds, and no picture
// shows them.
func addLinks(grid *chart.Grid, outcomes []*race.Outcome) {
	links := map[[2]string]string{}
	for _, o := range outcomes {
		links[[2]string{o.Strategy.ID, o.Scenario.ID}] = o.Trace.Link()
	}
	for _, row := range grid.Cells {
		for i := range row {
			row[i].Trace = links[[2]string{row[i].Strategy, row[i].Scenario}]
		}
	}
}

// firstOf is the part of a large grid by which it is introduced: the milestones in the
// best-known races; nil: the grid is not large, or does not have them.
func firstOf(g *chart.Grid) *chart.Grid {
	if !g.Many() {
		return nil
	}
	first := g.Part(
		func(r chart.Row) bool { return slices.Contains(demoLocks, r.ID) },
		func(c chart.Column) bool { return slices.Contains(demoRaces, c.Race) })
	if len(first.Strategies) == 0 || len(first.Scenarios) == 0 {
		return nil
	}
	return first
}

// charted returns the locks that charts show: at most a dozen lines can be told apart.
func charted(entries []lock.Entry) []lock.Entry {
	if len(entries) <= 12 {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e lock.Entry) bool {
		return !slices.ContainsFunc(algorithms.Milestones(), func(m lock.Entry) bool { return m.ID == e.ID })
	})
}

type reportFile struct {
	name string
	fill func(io.Writer) error
}
