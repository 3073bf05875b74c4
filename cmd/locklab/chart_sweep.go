package main

import (
	"errors"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// sweepFlags are the flags of "locklab chart sweep".
type sweepFlags struct {
	settings []string // the arguments
	runs     int
	set      string
	verdicts []string
	stops    bool // a pause stops the work
}

func sweepChart() *figure {
	s := &sweepFlags{runs: study.SweepRuns, stops: true}
	d := &figure{usual: algorithms.Milestones, once: 4,
		next: []string{"locklab chart sweep pause/ttl -o sweep.png", "locklab run watchdog gc-pause", "locklab matrix"}}
	d.command = &command{
		use:  "sweep [SETTING[=VALUES] [SETTING[=VALUES]]]",
		args: between(0, 2, "settings"), divides: true,
		examples: []string{"chart sweep pause/ttl=0.5:1.5:0.05 --locks token,watchdog -o sweep.png",
			"chart sweep renewal/ttl pause/ttl=0:1:0.1 --locks redisson-lease,redlock-extend -o renewal.png"},
		flags: func(f *flags) {
			f.add("pause-stops-work", &s.stops)
			ranged(f, "runs", &s.runs, 1, 1_000_000)
			f.add("set", &s.set)
			f.add("verdict", &s.verdicts)
		},
		run: func(e *env, args []string) error {
			s.settings = args
			return d.run(e, nil)
		},
	}
	d.draw = s.find
	d.report = func(e *env, r *report.Report, charted []lock.Entry) (_ chart.Result, err error) {
		s.stops = !r.Waits
		if r.Whole() {
			charted, err = locksNamed(pausedLocks)
		}
		if err != nil || len(charted) == 0 {
			return nil, err
		}
		return s.find(e, charted)
	}
	return d
}

// pausedLocks differ in the pause from which on they let two clients in: the lease, what is left of a lease that
// is renewed at its half or at two thirds, and a lease with a delay behind it.
var pausedLocks = []string{"token", "daemon-10", "daemon-20", "lock-delay"}

// find plays a sweep of locks.
func (s *sweepFlags) find(e *env, entries []lock.Entry) (chart.Result, error) {
	order, err := s.order()
	if err != nil {
		return nil, err
	}
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
}

// order reads the arguments and the flags. Without arguments pauses are varied.
func (s *sweepFlags) order() (o study.SweepOrder, err error) {
	if len(s.settings) == 0 {
		s.settings = []string{"pause/ttl"}
	}
	for _, arg := range s.settings {
		a, err := study.ParseAxis(arg)
		if err != nil {
			return o, err
		}
		o.Axes = append(o.Axes, a)
	}
	if o.Fixed, o.Lease, err = study.ParseValues(s.set); err != nil {
		return o, text.Errorf("error.cause", "of", "--set", "cause", err)
	}
	names := verdict.Names(lists.Pick(chart.Verdicts(), verdict.Word.Broken))
	for _, v := range s.verdicts {
		w := strings.ToUpper(strings.TrimSpace(v))
		if !slices.Contains(names, w) {
			return o, text.Errorf("error.sweep.verdict", "value", v, "near", text.Near(w, names),
				"names", strings.Join(names, ", "))
		}
		o.Words = append(o.Words, verdict.Word(w))
	}
	o.Runs, o.Waits = s.runs, !s.stops
	return o, o.Complete()
}
