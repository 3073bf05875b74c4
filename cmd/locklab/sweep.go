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
	waits    bool
}

func sweepCommand() *command {
	s := &sweepFlags{chart: chartFlags{numbers: true}, runs: study.SweepRuns}
	s.chart.next = []string{"locklab chart sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause",
		"locklab matrix"}
	return &command{
		use: "sweep [SETTING[=VALUES] [SETTING[=VALUES]]]", texts: []string{"sweep", "pauses"},
		args: between(0, 2, "settings"), flags: s.add, run: s.run, divides: true,
		examples: []string{"chart sweep", "chart sweep pause/ttl=0.5:1.5:0.05 --locks token,watchdog -o sweep.png",
			"chart sweep client-rate --set work=lease --locks token,redlock,redlock-drift",
			"chart sweep renewal/ttl pause/ttl=0:1:0.1 --locks watchdog,redlock-extend -o renewal.png",
			"chart sweep ttl=5s,10s,30s --set pause=12s --runs 9000"},
	}
}

func (s *sweepFlags) add(f *flags) {
	s.chart.add(f)
	parse(f, "work", "computes", &s.waits, study.ParseWork)
	ranged(f, "runs", &s.runs, 1, 1_000_000, "error.runs")
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
	order.Runs, order.Waits = s.runs, s.waits
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
	chart   chartFlags
	order   cost.RateOrder
	pauses  []string
	explain string
}

func rateCommand() *command {
	r := &rateFlags{chart: chartFlags{numbers: true}, order: cost.UsualRateOrder()}
	r.chart.next = []string{"locklab chart rate --explain token", "locklab chart rate -o rate.png",
		"locklab chart tolerance"}
	return &command{
		use: "rate", texts: []string{"rate"}, args: noArguments, flags: r.add, run: r.run,
		examples: []string{"chart rate",
			`chart rate --ttl 30s --pause "4/year 45s" --locks token,watchdog -o rate.png`,
			"chart rate --explain token"},
	}
}

func (r *rateFlags) add(f *flags) {
	r.chart.add(f)
	u := &r.order.Usage
	ranged(f, "machines", &u.Machines, 1, 1e9, "error.rate.machines")
	ranged(f, "acquisitions", &u.PerSecond, 1e-9, 1e9, "error.rate.acquisitions")
	ranged(f, "contended", &u.Contended, 0, 1, "error.rate.contended")
	ranged(f, "work", &u.Work, time.Millisecond, 1000*time.Hour, "error.rate.ttl")
	ranged(f, "ttl", &u.TTL, time.Millisecond, 1000*time.Hour, "error.rate.ttl")
	f.add("pause-stops-work", &u.PauseStopsWork)
	f.each("pause", &r.pauses)
	f.add("explain", &r.explain)
}

func (r *rateFlags) run(e *env, _ []string) error {
	if len(r.pauses) > 0 {
		r.order.Sources = nil // only what is named
	}
	for _, written := range r.pauses {
		source, err := cost.ParseSource(written)
		if err != nil {
			return text.Errorf("error.cause", "of", "--pause", "cause", err)
		}
		r.order.Sources = append(r.order.Sources, source)
	}
	entries, err := r.pick(e)
	if err := cmp.Or(err, r.order.Check()); err != nil {
		return err
	}
	known, err := report.Tolerance(e.ctx, e.work, entries)
	if err != nil {
		return internal(err)
	}
	found, err := cost.FindRates(e.ctx, r.order, &known.Tolerance)
	if err != nil {
		return internal(err)
	}
	return r.show(e, &chart.Rate{Rates: *found}, entries[0].ID)
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

// show prints the table, or where the numbers of the first lock come from, and writes the files.
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
