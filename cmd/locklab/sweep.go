package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
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
		chosen   chartFlags
		runs     int
		set      string
		verdicts []string
		refine   int
		resume   string
	)
	c := &cobra.Command{
		Use: "sweep SETTING[=VALUES] [SETTING[=VALUES]]",
		Example: a.examples("sweep", "sweep pause/ttl", "sweep pause/ttl=0.5:1.5:0.05 --refine 3 --strategies token,watchdog -o sweep.png",
			"sweep client-rate --set work=lease --strategies token,redlock,redlock-drift", "sweep renewal/ttl pause/ttl=0:1:0.1 --strategies watchdog,redlock-extend -o renewal.png",
			"sweep ttl=5s,10s,30s --set pause=12s --runs 9000 --resume ttl.json"),
		Args: a.within(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			order, err := sweepOrder(args, set, verdicts)
			if err != nil {
				return err
			}
			switch {
			case runs < 1 || runs > 1_000_000:
				return text.Errorf("error.runs", "value", runs, "least", "1", "most", "1000000")
			case refine < 0 || refine > study.MaxRefine:
				return text.Errorf("error.sweep.refine", "value", refine, "most", study.MaxRefine)
			case refine > 0 && a.elsewhere != nil:
				return text.Errorf("error.sweep.refine.share")
			}
			order.Runs, order.Refine = runs, refine
			if err := order.Complete(); err != nil {
				return err
			}
			entries, err := chosen.pick(a)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := order.Check(e); err != nil {
					return err
				}
			}
			files := withNumbers(chosen.files)
			if err := a.checkOutputs("-o", files...); err != nil {
				return err
			}
			ctx, end, err := a.resumed(c, args, resume)
			if err != nil {
				return err
			}
			found, err := order.Find(ctx, entries, func(steps int) (func(int), func()) { return a.progress(steps, "progress.runs") })
			end()
			if found == nil || errors.Is(err, study.ErrLosses) {
				return internal(err)
			}
			drawn := &chart.Sweep{Sweep: *found, Lang: a.Langs()[0]}
			return a.showChart(drawn, err, files, sweepToJSON(drawn, err),
				"locklab sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix")
		},
	}
	f, usage := c.Flags(), a.usage("sweep")
	chosen.add(a, f, "sweep")
	f.IntVar(&runs, "runs", defaultRuns, usage("runs"))
	f.StringVar(&set, "set", "", usage("set"))
	f.StringSliceVar(&verdicts, "verdict", nil, usage("verdict"))
	f.IntVar(&refine, "refine", 0, usage("refine"))
	f.StringVar(&resume, "resume", "", usage("resume"))
	return c
}

// sweepOrder is what the arguments ask for.
func sweepOrder(args []string, set string, verdicts []string) (o study.SweepOrder, err error) {
	for _, arg := range args {
		a, err := study.ParseAxis(arg)
		if err != nil {
			return o, err
		}
		o.Axes = append(o.Axes, a)
	}
	if o.Fixed, o.Lease, err = study.ParseValues(set); err != nil {
		return o, text.Errorf("error.cause", "of", "--set", "cause", err)
	}
	var names []string
	for _, w := range chart.Verdicts() {
		if w.Broken() {
			names = append(names, string(w))
		}
	}
	for _, v := range verdicts {
		w := strings.ToUpper(strings.TrimSpace(v))
		if !slices.Contains(names, w) {
			return o, text.Errorf("error.sweep.verdict", "value", v, "near", text.Near(w, names), "names", strings.Join(names, ", "))
		}
		o.Words = append(o.Words, verdict.Word(w))
	}
	return o, nil
}

// resumed is a context in which tasks are computed here, go on from what a file has, and are
// saved there. Without a file it is that of the command.
func (a *app) resumed(c *cobra.Command, args []string, file string) (ctx context.Context, end func(), err error) {
	none := func() {}
	if file == "" {
		return c.Context(), none, nil
	}
	if err := a.checkOutputs("--resume", file); err != nil {
		return nil, none, err
	}
	build, err := share.Build()
	if err != nil {
		return nil, none, internal(err)
	}
	head := share.Share{Build: build, Command: canonical(c, args), Stopped: true}
	saved := &share.Saved{Every: saveEvery}
	switch content, err := a.read(file, maxInput); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, none, text.Errorf("error.file", "file", "--resume", "cause", bare(err))
	case len(content) > 0:
		before, err := share.Read(file, content)
		switch {
		case err != nil:
			return nil, none, err
		case before.Build != build:
			return nil, none, text.Errorf("error.resume.build", "file", file, "there", before.Build, "here", build)
		case !slices.Equal(before.Command, head.Command):
			return nil, none, text.Errorf("error.resume.command", "file", file, "there", "locklab "+strings.Join(before.Command, " "), "here", "locklab "+strings.Join(head.Command, " "))
		}
		saved.Known, saved.File = before.Results, file
	}
	saved.Save = func(results []share.Result) error {
		head.Results = results
		return a.save(file, head.Write)
	}
	saved.Progress, end = a.taskProgress()
	return share.With(c.Context(), saved, text.Fits), end, nil
}

// saveEvery is how often results are saved. It is a variable for tests.
var saveEvery = 5 * time.Second

// save writes a file without saying so.
func (a *app) save(name string, fill func(io.Writer) error) error {
	quiet := *a
	quiet.stderr = io.Discard
	return quiet.write(name, replaces, fill)
}

// withNumbers adds a CSV to every picture, so that its numbers can be checked.
func withNumbers(files []string) (all []string) {
	for _, f := range files {
		all = append(all, f)
		csv := strings.TrimSuffix(strings.TrimSuffix(f, filepath.Ext(f)), ".dark") + ".csv"
		if !slices.Contains(files, csv) && !slices.Contains(all, csv) {
			all = append(all, csv)
		}
	}
	return all
}

// findSensitivity plays the runs and returns their chart.
func (a *app) findSensitivity(ctx context.Context, entries []lock.Entry, xs []float64, runs int) (*chart.Sensitivity, error) {
	done, end := a.progress(study.SensitivitySteps(len(entries), len(xs), runs), "progress.pauses")
	found, err := study.FindSensitivity(ctx, entries, xs, runs, done)
	end()
	return &chart.Sensitivity{Sensitivity: *found, Lang: a.Langs()[0]}, err
}

type sweepJSON struct {
	Version     int                 `json:"version"`
	Incomplete  bool                `json:"incomplete,omitempty"`
	Sweep       string              `json:"sweep"`
	Axes        []sweepAxisJSON     `json:"axes"`
	Verdicts    []verdict.Word      `json:"verdicts"`
	Assumptions string              `json:"assumptions"`
	Takeaway    string              `json:"takeaway"`
	Series      []study.SweepSeries `json:"series"`
}

// sweepAxisJSON says what the numbers of an axis are.
type sweepAxisJSON struct {
	Setting string `json:"setting"`
	Unit    string `json:"unit"`
}

func sweepToJSON(s *chart.Sweep, failed error) sweepJSON {
	out := sweepJSON{schema, errors.Is(failed, context.Canceled), "", nil, s.Order.Words, s.Assumptions("en"), s.Takeaway("en"), s.Series}
	var names []string
	for _, a := range s.Order.Axes {
		names = append(names, a.Name())
		out.Axes = append(out.Axes, sweepAxisJSON{a.Setting.Name, a.Unit()})
	}
	out.Sweep = strings.Join(names, ", ")
	return out
}
