package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
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

func sweepCommand() *command {
	s := &sweepFlags{chart: chartFlags{numbers: true}, runs: study.SweepRuns, stops: true}
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

// rateFlags are the flags of "locklab chart rate".
type rateFlags struct {
	chart        chartFlags
	settings     map[string]*string // by name
	faults       []string
	environments []string
	explain      string
}

// ownEnvironment has the faults of --fault.
const ownEnvironment = "yours"

func rateCommand() *command {
	r := &rateFlags{chart: chartFlags{numbers: true}, settings: map[string]*string{}}
	r.chart.next = []string{"locklab chart rate --explain token", "locklab chart rate -o rate.png",
		"locklab chart tolerance"}
	return &command{
		use: "rate", texts: []string{"rate", "pauses"}, args: noArguments, flags: r.add, run: r.run,
		examples: []string{"chart rate",
			`chart rate --ttl 30s --fault "pause=4/year 45s" --locks token,watchdog -o rate.png`,
			"chart rate --explain token"},
	}
}

func (r *rateFlags) add(f *flags) {
	r.chart.add(f)
	for _, name := range cost.Settings {
		r.settings[name] = new("")
		f.add(name, r.settings[name])
	}
	f.each("fault", &r.faults)
	f.add("environments", &r.environments)
	f.add("explain", &r.explain)
}

func (r *rateFlags) run(e *env, _ []string) error {
	order, err := r.order(e)
	if err != nil {
		return err
	}
	entries, err := r.pick(e)
	if err != nil {
		return err
	}
	known, err := report.Tolerance(e.ctx, e.work, entries)
	if err != nil {
		return internal(err)
	}
	found, err := cost.FindRates(e.ctx, order, &known.Tolerance)
	if err != nil {
		return internal(err)
	}
	return r.show(e, &chart.Rate{Rates: *found}, entries[0].ID)
}

// order reads what is to be computed.
func (r *rateFlags) order(e *env) (cost.RateOrder, error) {
	cause := func(flag string, err error) error { return text.Errorf("error.cause", "of", flag, "cause", err) }
	o := cost.UsualRateOrder()
	for _, name := range cost.Settings {
		if !e.given(name) {
			continue
		}
		if err := o.Set(name, *r.settings[name]); err != nil {
			return o, cause("--"+name, err)
		}
	}
	if e.given("environments") {
		if err := keepEnvironments(&o, r.environments); err != nil {
			return o, cause("--environments", err)
		}
	}
	if len(r.faults) > 0 && !e.given("environments") {
		o.Environments = nil // only what is said
	}
	for _, fault := range r.faults {
		name, value, ok := strings.Cut(fault, "=")
		if !ok {
			return o, cause("--fault", text.Errorf("error.rate.faultform", "value", fault))
		}
		if err := o.AddFault(ownEnvironment, strings.TrimSpace(name), value); err != nil {
			return o, cause("--fault", err)
		}
	}
	return o, o.Check()
}

func keepEnvironments(o *cost.RateOrder, names []string) error {
	all := o.Environments
	o.Environments = nil
	for _, n := range names {
		i, err := choose("error.rate.environment", n, lists.Each(all, func(e cost.Environment) string { return e.ID }))
		if err != nil {
			return err
		}
		o.Environments = append(o.Environments, all[i])
	}
	return nil
}

// pick returns the locks: those of the flags, or the one to explain.
func (r *rateFlags) pick(e *env) (entries []lock.Entry, err error) {
	if r.explain != "" {
		entries = make([]lock.Entry, 1)
		entries[0], err = race.Lock(r.explain)
	} else {
		entries, err = r.chart.locks.pick(algorithms.Milestones())
	}
	return entries, cmp.Or(err, r.chart.check(e))
}

// show prints the table, or the terms of the first lock, and writes the files.
func (r *rateFlags) show(e *env, drawn *chart.Rate, id string) error {
	if r.explain == "" || e.json {
		return r.chart.show(e, drawn, nil)
	}
	if err := drawn.Explain(e.Out, e.look(), id); err != nil {
		return internal(err)
	}
	e.Next("locklab chart rate", "locklab chart tolerance --locks "+id, "locklab explain "+id)
	return cmp.Or(writeCharts(e, chartOf(e, drawn), r.chart.files, r.chart.format), conclude(drawn))
}
