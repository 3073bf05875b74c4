package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// sweepFlags are the flags of "locklab chart sweep".
type sweepFlags struct {
	chart    chartFlags
	runs     int
	set      string
	verdicts []string
	stops    bool // a pause stops the work
}

func sweepCommand(files *chartFiles) *command {
	s := &sweepFlags{chart: chartFlags{chartFiles: files}, runs: study.SweepRuns, stops: true}
	s.chart.next = []string{"locklab chart sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause",
		"locklab matrix"}
	return &command{
		use:  "sweep [SETTING[=VALUES] [SETTING[=VALUES]]]",
		args: between(0, 2, "settings"), flags: s.add, run: s.run, divides: true,
		examples: []string{"chart sweep pause/ttl=0.5:1.5:0.05 --locks token,watchdog -o sweep.png",
			"chart sweep renewal/ttl pause/ttl=0:1:0.1 --locks watchdog,redlock-extend -o renewal.png"},
	}
}

func (s *sweepFlags) add(f *flags) {
	s.chart.add(f)
	f.add("pause-stops-work", &s.stops)
	ranged(f, "runs", &s.runs, 1, 1_000_000)
	f.add("set", &s.set)
	f.add("verdict", &s.verdicts)
}

func (s *sweepFlags) run(e *env, args []string) error {
	if len(args) == 0 {
		args = []string{"pause/ttl"}
	}
	order, err := sweepOrder(args, s.set, s.verdicts)
	if err != nil {
		return err
	}
	order.Runs, order.Waits = s.runs, !s.stops
	if err := order.Complete(); err != nil {
		return err
	}
	return s.chart.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
		for _, entry := range entries {
			if err := order.Check(entry); err != nil {
				return nil, err
			}
		}
		found, err := order.Find(e.ctx, entries,
			func(steps int) (*share.Work, func()) { return e.work(steps, "progress.runs") })
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
			return o, text.Errorf("error.sweep.verdict", "value", v, "near", text.Near(w, names),
				"names", strings.Join(names, ", "))
		}
		o.Words = append(o.Words, verdict.Word(w))
	}
	return o, nil
}

func rateCommand(files *chartFiles) *command {
	c := &chartFlags{chartFiles: files, next: []string{"locklab chart rate --locks token", "locklab chart rate -o rate.png",
		"locklab chart tolerance"}}
	var pauses []string
	order := cost.UsualRateOrder()
	return &command{
		use: "rate", args: noArguments,
		examples: []string{"chart rate",
			`chart rate --ttl 30s --pause "4/year 45s" --locks token,watchdog -o rate.png`,
			"chart rate --locks token"},
		flags: func(f *flags) {
			c.add(f)
			ranged(f, "machines", &order.Machines, 1, 1e9)
			ranged(f, "acquisitions", &order.PerSecond, 1e-9, 1e9)
			ranged(f, "contended", &order.Contended, 0, 1)
			ranged(f, "work", &order.Work, time.Millisecond, 1000*time.Hour)
			ranged(f, "ttl", &order.TTL, time.Millisecond, 1000*time.Hour)
			f.add("pause-stops-work", &order.PauseStopsWork)
			f.each("pause", &pauses)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			if err := cmp.Or(namePauses(&order, pauses), order.Check()); err != nil {
				return nil, err
			}
			known, err := report.Tolerance(e.ctx, e.work, entries)
			if err != nil {
				return nil, internal(err)
			}
			found, err := cost.FindRates(e.ctx, order, &known.Tolerance)
			if err != nil {
				return nil, internal(err)
			}
			return &chart.Rate{Rates: *found}, nil
		}),
	}
}

// namePauses puts the pauses that are named, if there are any, in place of those of the sources.
func namePauses(order *cost.RateOrder, written []string) error {
	if len(written) > 0 {
		order.Sources = nil
	}
	for _, pause := range written {
		source, err := cost.ParseSource(pause)
		if err != nil {
			return text.Errorf("error.cause", "of", "--pause", "cause", err)
		}
		order.Sources = append(order.Sources, source)
	}
	return nil
}
