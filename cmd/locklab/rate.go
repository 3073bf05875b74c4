package main

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// rateFlags are the flags of "locklab rate". They change what the file says.
type rateFlags struct {
	chart        chartFlags
	file         string
	settings     map[string]*string // by name, as in the file
	faults       []string
	environments []string
	explain      string
	limits       string
}

// maxInput is the largest file that is read, in bytes.
const maxInput = 64 << 20

// ownEnvironment has the faults of --fault.
const ownEnvironment = "yours"

func rateCommand() *command {
	r := &rateFlags{chart: chartFlags{numbers: true}, settings: map[string]*string{}}
	r.chart.next = []string{"locklab rate --explain token", "locklab rate -o rate.png", "locklab tolerance"}
	return &command{
		use: "rate", texts: []string{"rate", "pauses"}, args: noArguments, flags: r.add, run: r.run,
		examples: []string{"rate", `rate --ttl 30s --fault "pause=4/year 45s" --strategies token,watchdog -o rate.png`, "rate --explain token"},
	}
}

func (r *rateFlags) add(f *flags) {
	r.chart.add(f)
	f.add("file", &r.file)
	for _, name := range cost.Settings {
		r.settings[name] = new("")
		f.add(name, r.settings[name])
	}
	f.each("fault", &r.faults)
	f.add("environments", &r.environments)
	f.add("explain", &r.explain)
	f.add("limits", &r.limits)
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
	known, err := tolerances(e, entries, r.limits)
	if err != nil {
		return err
	}
	found, err := cost.FindRates(e.ctx, order, known)
	if err != nil {
		return internal(err)
	}
	return r.show(e, &chart.Rate{Rates: *found}, entries[0].ID)
}

// order reads what is to be computed.
func (r *rateFlags) order(e *env) (cost.RateOrder, error) {
	cause := func(flag string, err error) error { return text.Errorf("error.cause", "of", flag, "cause", err) }
	o := cost.UsualRateOrder()
	read := func(name string) ([]byte, error) {
		content, err := e.input(name, maxInput)
		return []byte(content), err
	}
	if e.given("file") {
		content, err := e.input(r.file, maxInput)
		if err != nil {
			return o, text.Errorf("error.rate.read", "file", r.file, "cause", i18n.Bare(err))
		}
		if err := o.Read(r.file, content, read); err != nil {
			return o, err
		}
	}
	for _, name := range cost.Settings {
		if !e.given(name) {
			continue
		}
		if err := o.Set(name, *r.settings[name], read); err != nil {
			return o, cause("--"+name, err)
		}
	}
	if e.given("environments") {
		if err := keepEnvironments(&o, r.environments); err != nil {
			return o, cause("--environments", err)
		}
	}
	if len(r.faults) > 0 && !e.given("environments") && !e.given("file") {
		o.Environments = nil // only what is said
	}
	for _, fault := range r.faults {
		name, value, ok := strings.Cut(fault, "=")
		if !ok {
			return o, cause("--fault", text.Errorf("error.rate.faultform", "value", fault))
		}
		if err := o.AddFault(ownEnvironment, strings.TrimSpace(name), value, read); err != nil {
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
		entries, err = locksNamed([]string{r.explain})
	} else {
		entries, err = r.chart.locks.pick(algorithms.Milestones())
	}
	return entries, cmp.Or(err, r.chart.check(e))
}

// tolerances searches for the tolerances of locks, unless a file has them.
func tolerances(e *env, entries []lock.Entry, limits string) (*study.Tolerance, error) {
	if limits == "" {
		found, err := report.Tolerance(e.ctx, e.work, entries)
		return &found.Tolerance, internal(err)
	}
	content, err := e.input(limits, maxInput)
	if err != nil {
		return nil, text.Errorf("error.rate.read", "file", limits, "cause", i18n.Bare(err))
	}
	var saved struct{ Limits []study.Limit }
	if err := json.Unmarshal([]byte(content), &saved); err != nil || len(saved.Limits) == 0 {
		return nil, text.Errorf("error.rate.limits", "file", limits)
	}
	out := &study.Tolerance{Locks: entries, Hazards: study.Hazards()}
	for _, entry := range entries {
		for _, h := range out.Hazards {
			i := slices.IndexFunc(saved.Limits, func(l study.Limit) bool { return l.Strategy == entry.ID && l.Fault == h.Fault })
			if i < 0 {
				return nil, text.Errorf("error.rate.limits.lock", "file", limits, "fault", h.Fault, "lock", entry.ID)
			}
			out.Limits = append(out.Limits, saved.Limits[i])
		}
	}
	return out, nil
}

// show prints the table, or the terms of the first lock, and writes the files.
func (r *rateFlags) show(e *env, drawn *chart.Rate, id string) error {
	if r.explain == "" || e.json {
		return r.chart.show(e, drawn, nil)
	}
	if err := drawn.Explain(e.Out, e.look(), id); err != nil {
		return internal(err)
	}
	e.Next("locklab rate", "locklab tolerance --strategies "+id, "locklab explain "+id)
	return cmp.Or(writeCharts(e, drawn, r.chart.files, r.chart.format), conclude(drawn))
}
