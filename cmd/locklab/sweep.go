package main

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// sweepFlags are the flags of "locklab sweep".
type sweepFlags struct {
	chart    chartFlags
	runs     int
	set      string
	verdicts []string
	refine   int
	waits    bool
	resume   string
}

func sweepCommand() *command {
	s := &sweepFlags{chart: chartFlags{numbers: true}, runs: study.SweepRuns}
	s.chart.next = []string{"locklab sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix"}
	return &command{
		use: "sweep [SETTING[=VALUES] [SETTING[=VALUES]]]", texts: []string{"sweep", "pauses"}, args: between(0, 2, "settings"), flags: s.add, run: s.run, tasks: onFleet,
		examples: []string{"sweep", "sweep pause/ttl=0.5:1.5:0.05 --refine 3 --strategies token,watchdog -o sweep.png",
			"sweep client-rate --set work=lease --strategies token,redlock,redlock-drift", "sweep renewal/ttl pause/ttl=0:1:0.1 --strategies watchdog,redlock-extend -o renewal.png",
			"sweep ttl=5s,10s,30s --set pause=12s --runs 9000 --resume ttl.json"},
	}
}

func (s *sweepFlags) add(f *flags) {
	s.chart.add(f)
	parse(f, "work", "computes", &s.waits, study.ParseWork)
	ranged(f, "runs", &s.runs, 1, 1_000_000, "error.runs")
	f.add("set", &s.set)
	f.add("verdict", &s.verdicts)
	ranged(f, "refine", &s.refine, 0, study.MaxRefine, "error.sweep.refine")
	f.add("resume", &s.resume)
}

func (s *sweepFlags) run(e *env, args []string) error {
	if len(args) == 0 {
		args = []string{"pause/ttl"}
	}
	order, err := sweepOrder(args, s.set, s.verdicts)
	if err == nil && s.refine > 0 && e.elsewhere != nil {
		err = text.Errorf("error.sweep.refine.share")
	}
	if err != nil {
		return err
	}
	order.Runs, order.Refine, order.Waits = s.runs, s.refine, s.waits
	if err := order.Complete(); err != nil {
		return err
	}
	return s.chart.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
		for _, entry := range entries {
			if err := order.Check(entry); err != nil {
				return nil, err
			}
		}
		end, err := resumed(e, args, s.resume)
		if err != nil {
			return nil, err
		}
		found, err := order.Find(e.ctx, entries, func(steps int) (*share.Work, func()) { return e.work(steps, "progress.runs") })
		end()
		if found == nil || errors.Is(err, study.ErrLosses) {
			return nil, internal(err)
		}
		return &chart.Sweep{Sweep: *found}, err
	})(e, args)
}

// sweepOrder reads the arguments.
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
	names := verdict.Names(lists.Pick(chart.Verdicts(), verdict.Word.Broken))
	for _, v := range verdicts {
		w := strings.ToUpper(strings.TrimSpace(v))
		if !slices.Contains(names, w) {
			return o, text.Errorf("error.sweep.verdict", "value", v, "near", text.Near(w, names), "names", strings.Join(names, ", "))
		}
		o.Words = append(o.Words, verdict.Word(w))
	}
	return o, nil
}

// resumed has the tasks of a command computed here, beginning with the results that a file has,
// and has all results saved there. Without a file it does nothing.
func resumed(e *env, args []string, file string) (end func(), err error) {
	none := func() {}
	if file == "" {
		return none, nil
	}
	if err := e.checkOutputs("--resume", file); err != nil {
		return none, err
	}
	build, err := share.Build()
	if err != nil {
		return none, internal(err)
	}
	head := share.Share{Build: build, Command: canonical(e.running, args), Stopped: true}
	saved := &share.Saved{Every: saveEvery}
	switch content, err := e.read(file, maxInput); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return none, text.Errorf("error.file", "file", "--resume", "cause", i18n.Bare(err))
	case len(content) > 0:
		before, err := share.Read(file, content)
		switch {
		case err != nil:
			return none, err
		case before.Build != build:
			return none, text.Errorf("error.resume.build", "file", file, "there", before.Build, "here", build)
		case !slices.Equal(before.Command, head.Command):
			return none, text.Errorf("error.resume.command", "file", file, "there", "locklab "+strings.Join(before.Command, " "), "here", "locklab "+strings.Join(head.Command, " "))
		}
		saved.Known, saved.File = before.Results, file
	}
	saved.Save = func(results []share.Result) error {
		head.Results = results
		return e.save(file, head.Write)
	}
	saved.Progress, end = taskProgress(e)
	e.computer = saved
	return end, nil
}

// saveEvery is the time between two savings of results. It is a variable for tests.
var saveEvery = 5 * time.Second

// save writes a file without saying so.
func (e *env) save(name string, fill func(io.Writer) error) error {
	quiet := *e
	quiet.stderr = io.Discard
	return quiet.write(name, replaces, fill)
}
