package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

type cellJSON struct {
	Strategy   string         `json:"strategy"`
	Article    string         `json:"article"`
	Scenario   string         `json:"scenario"`
	Race       string         `json:"race"`
	Verdicts   []verdict.Word `json:"verdicts"`
	Contracted *bool          `json:"contracted,omitempty"` // false: no contract speaks of the cell; absent else
	Expected   []verdict.Word `json:"expected"`             // null where no contract speaks
	AsExpected *bool          `json:"as_expected"`          // likewise
	Reached    bool           `json:"reached"`
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
		why := reason("why", contract.Why(o.Strategy, o.Scenario))
		contracted, expected, asExpected := againstContract(o)
		cells = append(cells, cellJSON{
			Strategy: o.Strategy.ID, Article: o.Strategy.Article, Scenario: o.Scenario.ID, Race: o.Scenario.Race,
			Verdicts: o.Verdicts, Contracted: contracted, Expected: expected, AsExpected: asExpected, Reached: o.Reached, Why: why.EN, WhyZH: why.ZH,
			Trace: o.Trace.Link(), Runs: o.Runs, Broken: o.Broken,
		})
	}
	return cells
}

func (a *app) matrix() *cobra.Command {
	var (
		locks lockFlags
		races []string
		runs  int
		dir   string
	)
	c := &cobra.Command{
		Use:   "matrix",
		Short: "every lock in every race",
		Long: `Plays every lock in every race and prints the grid. The exit status is 1 if a
cell is not as contracted; of a lock that no contract speaks of nothing is expected.

--runs N plays each cell N more times with sampled latencies and counts how
often the lock broke. -o DIR writes the grid as text, CSV, PNG and SVG, the
charts of locklab sweep pause/ttl, par and frontier, the doom curve of token and
one pause (locklab explore --doom), and the report page.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := locks.pick(algorithms.All())
			if err != nil {
				return err
			}
			scs, err := pickRaces(races)
			if err != nil {
				return err
			}
			if runs < 0 || runs > 100_000 {
				return fmt.Errorf("--runs %d: give 0 to 100000", runs)
			}
			if dir != "" {
				if err := writable(dir); err != nil {
					return fmt.Errorf("-o %s: %w", dir, err)
				}
			}
			return a.playMatrix(c.Context(), entries, scs, runs, dir)
		},
	}
	f := c.Flags()
	locks.add(f, "every lock")
	f.StringSliceVar(&races, "scenarios", nil, "only these races, as in R18,failover")
	f.IntVar(&runs, "runs", 0, "seeded runs for each cell, beside the story")
	f.StringVarP(&dir, "out", "o", "", "write grid, charts and report into DIR")
	return c
}

func pickRaces(names []string) (scs []race.Scenario, err error) {
	if names == nil {
		return scenarios.All(), nil
	}
	if len(names) == 0 {
		return nil, errors.New("--scenarios names no race: leave it out for all, or write for example R18,failover")
	}
	for _, n := range names {
		sc, err := scenarios.ByName(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(scs, func(o race.Scenario) bool { return o.ID == sc.ID }) {
			return nil, fmt.Errorf("--scenarios names %s twice", sc.ID)
		}
		scs = append(scs, sc)
	}
	return scs, nil
}

func (a *app) playMatrix(ctx context.Context, entries []lock.Entry, scs []race.Scenario, runs int, dir string) error {
	done, end := a.progress(len(entries)*len(scs), "cells")
	cells, err := study.Matrix(ctx, entries, scs, runs, keeping(entries, dir), done)
	end()
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	grid := gridOf(entries, scs, cells)
	flat, complete := flatten(cells)
	if a.json {
		err = a.printJSON(matrixJSON{Version: schema, Incomplete: !complete, Cells: cellsJSON(flat)})
	} else {
		err = a.printGrid(grid, flat, runs)
	}
	if err != nil {
		return err
	}
	if stopped || !complete {
		text := fmt.Sprintf("stopped before the end: incomplete, %d of %d cells were played", len(flat), len(entries)*len(scs))
		if !a.json {
			a.printf("%s\n", text)
		}
		return &exitError{exitUntold, errors.New(text)}
	}
	if dir != "" {
		if stopped, err = a.writeReport(ctx, dir, entries, grid, flat); err != nil {
			return err
		}
		if stopped {
			return &exitError{exitUntold, errors.New("stopped before the charts were done: the grid above is complete, no file was written")}
		}
	}
	return differing(flat)
}

// differing is the exit status for cells that are not as contracted, with the
// line that plays the first of them again.
func differing(outcomes []*race.Outcome) error {
	var bad []string
	for _, o := range outcomes {
		if !contract.AsExpected(o) {
			bad = append(bad, fmt.Sprintf("%s in %s: expected %s, got %s (reached %t): locklab run %s %s",
				o.Strategy.ID, o.Scenario.ID, join(contract.Expected(o)), join(o.Verdicts), o.Reached, o.Strategy.ID, o.Scenario.ID))
		}
	}
	if bad == nil {
		return nil
	}
	return &exitError{exitDiffers, errors.New("not as contracted:\n  " + strings.Join(bad, "\n  "))}
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

func (a *app) printGrid(grid *reports.Grid, outcomes []*race.Outcome, runs int) error {
	if err := grid.Text(a.stdout, a.options()); err != nil {
		return internal(err)
	}
	if runs > 0 {
		a.printCounts(outcomes)
	}
	a.next("locklab run token gc-pause", "locklab explain R18", "locklab matrix -o out")
	return nil
}

// printCounts answers the other question, how often, with the interval that
// the count supports.
func (a *app) printCounts(outcomes []*race.Outcome) {
	a.printf("\n%s\n", a.say("Seeded runs in which the lock fell (95 % Wilson interval; waits that time ends are no fall):", "锁失守的随机运行次数（95% Wilson 区间；会自己结束的等待不算）："))
	for _, o := range outcomes {
		if o.Runs == 0 {
			continue
		}
		lo, hi := reports.Wilson(o.Broken, o.Runs)
		a.printf("  %-20s %-13s %5d/%d  %5.1f%% to %5.1f%%\n", o.Scenario.ID, o.Strategy.ID, o.Broken, o.Runs, 100*lo, 100*hi)
	}
}

// gridOf turns outcomes into what reports draw. A nil outcome was not played.
func gridOf(entries []lock.Entry, scs []race.Scenario, cells [][]*race.Outcome) *reports.Grid {
	g := &reports.Grid{}
	for _, sc := range scs {
		g.Scenarios = append(g.Scenarios, reports.Column{ID: sc.ID, Race: sc.Race, Title: story(sc, "title")})
	}
	for l, e := range entries {
		g.Strategies = append(g.Strategies, reports.Row{ID: e.ID, Article: e.Article, Title: reports.Text(e.Title), Group: reports.Text(e.Family.Title())})
		row := make([]reports.Cell, len(scs))
		for s := range scs {
			row[s] = cellOf(e, scs[s], cells[s][l])
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

func cellOf(e lock.Entry, sc race.Scenario, o *race.Outcome) reports.Cell {
	why := reason("why", contract.Why(e, sc))
	c := reports.Cell{Strategy: e.ID, Article: e.Article, Scenario: sc.ID, Race: sc.Race, Why: why, Verdicts: []verdict.Word{verdict.Unknown}, Uncontracted: contract.Uncontracted(e, sc)}
	if o != nil { // nil was not played: unknown, and not as expected
		c.Verdicts, c.Expected, c.AsExpected, c.Reached = o.Verdicts, contract.Expected(o), contract.AsExpected(o), o.Reached
		c.Trace = o.Trace.Link()
		c.Blocked, c.Overlap = longest(o, verdict.Blocked), longest(o, verdict.Overlap)
	}
	return c
}

// reportMemory is what the garbage collector is to stay under while the report is
// made, in bytes: a matrix fits into 200 MB.
const reportMemory = 150 << 20

// writeReport writes everything that can be made of the grid.
func (a *app) writeReport(ctx context.Context, dir string, entries []lock.Entry, grid *reports.Grid, outcomes []*race.Outcome) (stopped bool, err error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(reportMemory)) // searches are generous otherwise
	charts, err := a.charts(ctx, charted(entries))
	if errors.Is(err, context.Canceled) {
		return true, nil
	}
	if err != nil {
		return false, internal(err)
	}
	files := []reportFile{
		{"grid.txt", func(w io.Writer) error { return grid.Text(w, reports.Options{Width: defaultWidth}) }},
		{"grid.csv", grid.CSV},
		{"grid.png", grid.PNG},
		{"grid.svg", grid.SVG},
	}
	for _, c := range charts {
		files = append(files, reportFile{c.name + ".csv", c.CSV}, reportFile{c.name + ".png", c.PNG}, reportFile{c.name + ".svg", c.SVG})
	}
	files = append(files, reportFile{"report.html", func(w io.Writer) error {
		page, err := reportPage(grid, charts, outcomes, a.command)
		if err != nil {
			return err
		}
		return reports.HTML(w, page)
	}})
	for _, f := range files {
		if err := a.write(filepath.Join(dir, f.name), f.fill); err != nil {
			return false, err
		}
	}
	return false, nil
}

// keeping says which runs the report shows in full.
func keeping(entries []lock.Entry, dir string) func(lock.Entry) bool {
	shown := charted(entries)
	return func(e lock.Entry) bool {
		return dir != "" && slices.ContainsFunc(shown, func(s lock.Entry) bool { return s.ID == e.ID })
	}
}

// charted are the locks that charts draw: lines of a dozen cannot be told apart.
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
