package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/study"
)

// defaultRuns is a multiple of nine, so that every length of work is played
// equally often.
const defaultRuns = 270

// defaultSizes are the pauses of the chart, in leases: 0 to 2 by tenths.
func defaultSizes() (xs []float64) {
	for i := range 21 {
		xs = append(xs, float64(i)/10)
	}
	return xs
}

func (a *app) sweep() *cobra.Command {
	var (
		locks lockFlags
		runs  int
		files []string
	)
	c := &cobra.Command{
		Use:   "sweep pause/ttl[=FROM:TO:STEP]",
		Short: "how often, against the size of the fault",
		Long: `Counts in how many of N seeded runs two clients were inside at once, against
the length of a pause in leases. The range is 0:2:0.1 unless you give another.

In a run c1 works for 1 to 9 s of a lease of 10 s, each whole number equally
often, and its process stands still once, beginning anywhere in its work. Every
lock and every length meets the same draws.`,
		Example: "  locklab sweep pause/ttl\n  locklab sweep pause/ttl=0.5:1.5:0.05 --strategies token,watchdog -o sweep.png -o sweep.csv",
		Args:    exactly(1, "sweep pause/ttl[=FROM:TO:STEP]"),
		RunE: func(c *cobra.Command, args []string) error {
			xs, err := parseSizes(args[0])
			if err != nil {
				return err
			}
			entries, err := locks.pick(algorithms.Milestones())
			if err != nil {
				return err
			}
			if runs < 1 || runs > 1_000_000 {
				return fmt.Errorf("--runs %d: give 1 to 1000000", runs)
			}
			if err := checkCharts(files, "a sweep"); err != nil {
				return err
			}
			return a.playSweep(c.Context(), entries, xs, runs, files)
		},
	}
	f := c.Flags()
	locks.add(f, "the six of the tour")
	f.IntVar(&runs, "runs", defaultRuns, "seeded runs for each lock and length")
	f.StringArrayVarP(&files, "out", "o", nil, "write to FILE: .png, .svg or .csv, the CSV beside every picture (repeatable)")
	return c
}

// withNumbers puts the CSV beside every picture: a chart without its numbers is
// a claim.
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

func parseSizes(arg string) ([]float64, error) {
	name, text, given := strings.Cut(arg, "=")
	if name != "pause/ttl" {
		return nil, fmt.Errorf("cannot sweep %q: did you mean pause/ttl?", name)
	}
	if !given {
		return defaultSizes(), nil
	}
	parts := strings.Split(text, ":")
	var v [3]float64
	for i, p := range parts {
		f, err := strconv.ParseFloat(p, 64)
		if err != nil || len(parts) != 3 || !(f >= 0 && f <= 100) {
			return nil, fmt.Errorf("%q: write FROM:TO:STEP in leases, each 0 to 100, for example 0:2:0.1", text)
		}
		v[i] = f
	}
	from, to, step := v[0], v[1], v[2]
	if step <= 0 || to < from || (to-from)/step > 1000 {
		return nil, fmt.Errorf("%q: TO must not be below FROM, STEP must be above 0, with at most 1000 steps", text)
	}
	var xs []float64
	for i := 0; from+float64(i)*step <= to+step/1e6; i++ {
		x, _ := strconv.ParseFloat(strconv.FormatFloat(from+float64(i)*step, 'f', 6, 64), 64)
		xs = append(xs, x)
	}
	return xs, nil
}

// sensitivity plays the sweep and puts it into words for the chart.
func (a *app) sensitivity(ctx context.Context, entries []lock.Entry, xs []float64, runs int) (*reports.Sensitivity, error) {
	done, end := a.progress(study.SensitivitySteps(len(entries)), "pauses")
	points, err := study.Sensitivity(ctx, entries, xs, runs, done)
	end()
	chart := &reports.Sensitivity{XLabel: "pause / TTL", YLabel: "runs with an overlap", Runs: runs}
	for i, e := range entries {
		if points[i] == nil {
			continue
		}
		s := reports.Series{Strategy: e.ID}
		for _, p := range points[i] {
			s.Points = append(s.Points, reports.Point{X: p.X, K: p.K, N: p.N})
		}
		chart.Series = append(chart.Series, s)
	}
	return chart, err
}

type sweepJSON struct {
	Version    int          `json:"version"`
	Incomplete bool         `json:"incomplete,omitempty"`
	Sweep      string       `json:"sweep"`
	Takeaway   string       `json:"takeaway"`
	Series     []seriesJSON `json:"series"`
}

type seriesJSON struct {
	Strategy string      `json:"strategy"`
	Points   []pointJSON `json:"points"`
}

type pointJSON struct {
	X  float64 `json:"x"`
	K  int     `json:"k"`
	N  int     `json:"n"`
	Lo float64 `json:"wilson_lo"`
	Hi float64 `json:"wilson_hi"`
}

func (a *app) playSweep(ctx context.Context, entries []lock.Entry, xs []float64, runs int, files []string) error {
	chart, err := a.sensitivity(ctx, entries, xs, runs)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	if !stopped {
		if err := a.writeCharts(chart, withNumbers(files)); err != nil {
			return err
		}
	}
	if a.json {
		err = a.printJSON(sweepToJSON(chart, stopped))
	} else {
		a.printSweep(chart)
		err = nil
	}
	if err == nil && stopped {
		return &exitError{exitUntold, errors.New("stopped before the end: what is printed is incomplete, and no file was written")}
	}
	return err
}

func sweepToJSON(chart *reports.Sensitivity, stopped bool) sweepJSON {
	out := sweepJSON{Version: schema, Incomplete: stopped, Sweep: chart.XLabel, Takeaway: chart.Takeaway("en"), Series: []seriesJSON{}}
	for _, s := range chart.Series {
		one := seriesJSON{Strategy: s.Strategy, Points: []pointJSON{}}
		for _, p := range s.Points {
			lo, hi := reports.Wilson(p.K, p.N)
			one.Points = append(one.Points, pointJSON{X: p.X, K: p.K, N: p.N, Lo: lo, Hi: hi})
		}
		out.Series = append(out.Series, one)
	}
	return out
}

func (a *app) printSweep(chart *reports.Sensitivity) {
	for _, lang := range a.langs() {
		a.printf("%s\n", chart.Title(lang))
		a.wrap("", chart.Assumptions(lang))
	}
	a.printf("\n%10s", "pause/TTL")
	for _, s := range chart.Series {
		a.printf("  %12s", s.Strategy)
	}
	a.printf("\n")
	if len(chart.Series) > 0 {
		for i, p := range chart.Series[0].Points {
			a.printf("%10s", strconv.FormatFloat(p.X, 'g', -1, 64))
			for _, s := range chart.Series {
				a.printf("  %12s", fmt.Sprintf("%d/%d", s.Points[i].K, s.Points[i].N))
			}
			a.printf("\n")
		}
	}
	a.printf("\n")
	for _, lang := range a.langs() {
		a.wrap("", chart.Takeaway(lang))
	}
	a.next("locklab sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix")
}
