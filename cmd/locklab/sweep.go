package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
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
		chosen chartFlags
		runs   int
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
			entries, err := chosen.pick(a)
			if err != nil {
				return err
			}
			if runs < 1 || runs > 1_000_000 {
				return text.Errorf("error.runs", "value", runs, "least", "1", "most", "1000000")
			}
			files := withNumbers(chosen.files)
			if err := a.checkOutputs("-o", files...); err != nil {
				return err
			}
			drawn, err := a.findSensitivity(c.Context(), entries, xs, runs)
			out := sweepJSON{schema, errors.Is(err, context.Canceled), text.Say("en", "sensitivity.x"), drawn.Takeaway("en"), drawn.Series}
			return a.showChart(drawn, err, files, out,
				"locklab sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix")
		},
	}
	f, usage := c.Flags(), a.usage("sweep")
	chosen.add(a, f, "sweep")
	f.IntVar(&runs, "runs", defaultRuns, usage("runs"))
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

// findSensitivity plays the runs and returns their chart.
func (a *app) findSensitivity(ctx context.Context, entries []lock.Entry, xs []float64, runs int) (*chart.Sensitivity, error) {
	done, end := a.progress(study.SensitivitySteps(len(entries), runs), "progress.pauses")
	found, err := study.FindSensitivity(ctx, entries, xs, runs, done)
	end()
	return &chart.Sensitivity{Sensitivity: *found}, err
}

type sweepJSON struct {
	Version    int            `json:"version"`
	Incomplete bool           `json:"incomplete,omitempty"`
	Sweep      string         `json:"sweep"`
	Takeaway   string         `json:"takeaway"`
	Series     []study.Series `json:"series"`
}
