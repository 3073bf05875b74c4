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
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// defaultRuns is a multiple of nine, so that every length of work is played
// equally often.
const defaultRuns = 270

// defaultSizes are the pauses of the drawn, in leases: 0 to 2 by tenths.
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
		Use:     "sweep pause/ttl[=FROM:TO:STEP]",
		Example: a.examples("sweep", "sweep pause/ttl", "sweep pause/ttl=0.5:1.5:0.05 --strategies token,watchdog -o sweep.png"),
		Args:    a.exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			xs, err := a.parseSizes(args[0])
			if err != nil {
				return err
			}
			entries, err := locks.pick(a, algorithms.Milestones())
			if err != nil {
				return err
			}
			if runs < 1 || runs > 1_000_000 {
				return text.Errorf("error.runs", "value", runs, "least", "1", "most", "1000000")
			}
			files := withNumbers(files)
			if err := a.checkCharts(files); err != nil {
				return err
			}
			return a.playSweep(c.Context(), entries, xs, runs, files)
		},
	}
	f, usage := c.Flags(), a.usage("sweep")
	locks.add(a, f, "milestones")
	f.IntVar(&runs, "runs", defaultRuns, usage("runs"))
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
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

func (a *app) parseSizes(arg string) ([]float64, error) {
	name, sizes, given := strings.Cut(arg, "=")
	if name != "pause/ttl" {
		return nil, text.Errorf("error.sweep", "name", name)
	}
	if !given {
		return defaultSizes(), nil
	}
	parts := strings.Split(sizes, ":")
	var v [3]float64
	for i, p := range parts {
		f, err := strconv.ParseFloat(p, 64)
		if err != nil || len(parts) != 3 || !(f >= 0 && f <= 100) {
			return nil, text.Errorf("error.sweep.range", "value", sizes)
		}
		v[i] = f
	}
	from, to, step := v[0], v[1], v[2]
	if step <= 0 || to < from || (to-from)/step > 1000 {
		return nil, text.Errorf("error.sweep.order", "value", sizes)
	}
	var xs []float64
	for i := 0; from+float64(i)*step <= to+step/1e6; i++ {
		x, _ := strconv.ParseFloat(strconv.FormatFloat(from+float64(i)*step, 'f', 6, 64), 64)
		xs = append(xs, x)
	}
	return xs, nil
}

// sensitivity plays the sweep and returns its chart.
func (a *app) sensitivity(ctx context.Context, entries []lock.Entry, xs []float64, runs int) (*chart.Sensitivity, error) {
	done, end := a.progress(study.SensitivitySteps(len(entries)), "progress.pauses")
	points, err := study.Sensitivity(ctx, entries, xs, runs, done)
	end()
	drawn := &chart.Sensitivity{Runs: runs}
	for i, e := range entries {
		if points[i] == nil {
			continue
		}
		s := chart.Series{Strategy: e.ID}
		for _, p := range points[i] {
			s.Points = append(s.Points, chart.Point{X: p.X, K: p.K, N: p.N})
		}
		drawn.Series = append(drawn.Series, s)
	}
	return drawn, err
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
	drawn, err := a.sensitivity(ctx, entries, xs, runs)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	if a.json {
		if err := a.printJSON(sweepToJSON(drawn, stopped)); err != nil {
			return err
		}
	} else {
		a.printSweep(drawn)
	}
	if stopped {
		return noAnswer("error.stopped.files")
	}
	return a.writeCharts(drawn, files)
}

func sweepToJSON(drawn *chart.Sensitivity, stopped bool) sweepJSON {
	out := sweepJSON{Version: schema, Incomplete: stopped, Sweep: text.Say("en", "sensitivity.x"), Takeaway: drawn.Takeaway("en"), Series: []seriesJSON{}}
	for _, s := range drawn.Series {
		one := seriesJSON{Strategy: s.Strategy, Points: []pointJSON{}}
		for _, p := range s.Points {
			lo, hi := chart.Wilson(p.K, p.N)
			one.Points = append(one.Points, pointJSON{X: p.X, K: p.K, N: p.N, Lo: lo, Hi: hi})
		}
		out.Series = append(out.Series, one)
	}
	return out
}

func (a *app) printSweep(drawn *chart.Sensitivity) {
	for _, lang := range a.Langs() {
		a.Printf("%s\n", drawn.Title(lang))
		a.Wrap("", drawn.Assumptions(lang))
	}
	a.Printf("\n%10s", "pause/TTL")
	for _, s := range drawn.Series {
		a.Printf("  %12s", s.Strategy)
	}
	a.Printf("\n")
	if len(drawn.Series) > 0 {
		for i, p := range drawn.Series[0].Points {
			a.Printf("%10s", strconv.FormatFloat(p.X, 'g', -1, 64))
			for _, s := range drawn.Series {
				a.Printf("  %12s", fmt.Sprintf("%d/%d", s.Points[i].K, s.Points[i].N))
			}
			a.Printf("\n")
		}
	}
	a.Printf("\n")
	for _, lang := range a.Langs() {
		a.Wrap("", drawn.Takeaway(lang))
	}
	a.Next("locklab sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix")
}
