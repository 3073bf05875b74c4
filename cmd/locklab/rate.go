package main

import (
	"cmp"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

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
	r.chart.next = []string{"locklab chart rate --explain token", "locklab chart rate -o rate.png", "locklab chart tolerance"}
	return &command{
		use: "rate", texts: []string{"rate", "pauses"}, args: noArguments, flags: r.add, run: r.run,
		examples: []string{"chart rate", `chart rate --ttl 30s --fault "pause=4/year 45s" --strategies token,watchdog -o rate.png`, "chart rate --explain token"},
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
		entries[0], err = race.Strategy(r.explain)
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
	e.Next("locklab chart rate", "locklab chart tolerance --strategies "+id, "locklab explain "+id)
	return cmp.Or(writeCharts(e, drawn, r.chart.files, r.chart.format), conclude(drawn))
}
