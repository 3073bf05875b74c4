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

// sweepFlags are the flags of "locklab sweep".
type sweepFlags struct {
	chart    chartFlags
	runs     int
	set      string
	verdicts []string
	refine   int
	resume   string
}

func sweepCommand() *command {
	s := &sweepFlags{runs: defaultRuns}
	return &command{
		use: "sweep SETTING[=VALUES] [SETTING[=VALUES]]", args: within(1, 2), flags: s.add, run: s.run, tasks: onFleet,
		examples: []string{"sweep pause/ttl", "sweep pause/ttl=0.5:1.5:0.05 --refine 3 --strategies token,watchdog -o sweep.png",
			"sweep client-rate --set work=lease --strategies token,redlock,redlock-drift", "sweep renewal/ttl pause/ttl=0:1:0.1 --strategies watchdog,redlock-extend -o renewal.png",
			"sweep ttl=5s,10s,30s --set pause=12s --runs 9000 --resume ttl.json"},
	}
}

func (s *sweepFlags) add(f *flags) {
	s.chart.add(f)
	f.add("runs", &s.runs)
	f.add("set", &s.set)
	f.add("verdict", &s.verdicts)
	f.add("refine", &s.refine)
	f.add("resume", &s.resume)
}

func (s *sweepFlags) run(e *env, args []string) error {
	order, err := s.order(e, args)
	if err != nil {
		return err
	}
	entries, err := s.chart.pick(e)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := order.Check(entry); err != nil {
			return err
		}
	}
	files := withNumbers(s.chart.files)
	if err := e.checkOutputs("-o", files...); err != nil {
		return err
	}
	ctx, end, err := resumed(e, args, s.resume)
	if err != nil {
		return err
	}
	found, err := order.Find(ctx, entries, func(steps int) (func(int), func()) { return e.progress(steps, "progress.runs") })
	end()
	if found == nil || errors.Is(err, study.ErrLosses) {
		return internal(err)
	}
	drawn := &chart.Sweep{Sweep: *found}
	return showChart(e, drawn, err, files, sweepToJSON(drawn, err),
		"locklab sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix")
}

// order is what the arguments and the flags ask for.
func (s *sweepFlags) order(e *env, args []string) (study.SweepOrder, error) {
	order, err := sweepOrder(args, s.set, s.verdicts)
	switch {
	case err != nil:
		return order, err
	case s.runs < 1 || s.runs > 1_000_000:
		return order, text.Errorf("error.runs", "value", s.runs, "least", "1", "most", "1000000")
	case s.refine < 0 || s.refine > study.MaxRefine:
		return order, text.Errorf("error.sweep.refine", "value", s.refine, "most", study.MaxRefine)
	case s.refine > 0 && e.elsewhere != nil:
		return order, text.Errorf("error.sweep.refine.share")
	}
	order.Runs, order.Refine = s.runs, s.refine
	return order, order.Complete()
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
func resumed(e *env, args []string, file string) (ctx context.Context, end func(), err error) {
	none := func() {}
	if file == "" {
		return e.ctx, none, nil
	}
	if err := e.checkOutputs("--resume", file); err != nil {
		return nil, none, err
	}
	build, err := share.Build()
	if err != nil {
		return nil, none, internal(err)
	}
	head := share.Share{Build: build, Command: canonical(e.running, args), Stopped: true}
	saved := &share.Saved{Every: saveEvery}
	switch content, err := e.read(file, maxInput); {
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
		return e.save(file, head.Write)
	}
	saved.Progress, end = taskProgress(e)
	return share.With(e.ctx, saved, text.Fits), end, nil
}

// saveEvery is how often results are saved. It is a variable for tests.
var saveEvery = 5 * time.Second

// save writes a file without saying so.
func (e *env) save(name string, fill func(io.Writer) error) error {
	quiet := *e
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
func findSensitivity(ctx context.Context, e *env, entries []lock.Entry, xs []float64, runs int) (*chart.Sensitivity, error) {
	done, end := e.progress(study.SensitivitySteps(len(entries), len(xs), runs), "progress.pauses")
	found, err := study.FindSensitivity(ctx, entries, xs, runs, done)
	end()
	return &chart.Sensitivity{Sensitivity: *found}, err
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
	out := sweepJSON{schema, stoppedBy(failed), "", nil, s.Order.Words, s.Assumptions("en"), s.Takeaway("en"), s.Series}
	var names []string
	for _, a := range s.Order.Axes {
		names = append(names, a.Name())
		out.Axes = append(out.Axes, sweepAxisJSON{a.Setting.Name, a.Unit()})
	}
	out.Sweep = strings.Join(names, ", ")
	return out
}
