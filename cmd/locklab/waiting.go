package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// waitingFlags are the flags of "locklab waiting".
type waitingFlags struct {
	sizes    string
	policies []string
	article  bool
	load     cost.Load
	chart    chartFlags // its files only
}

func waitingCommand() *command {
	w := &waitingFlags{chart: chartFlags{numbers: true}, sizes: "2,10,50,200,1000", load: cost.UsualLoad()}
	return &command{
		use: "waiting", args: noArguments, flags: w.add, run: w.run, tasks: onFleet,
		examples: []string{"waiting", "waiting --clients 2,100 --policies fixed,backoff,pubsub,line --poll 20ms -o waiting.png", "waiting --clients 10 --policies none --article"},
	}
}

func (w *waitingFlags) add(f *flags) {
	f.add("clients", &w.sizes)
	f.add("policies", &w.policies)
	for _, l := range w.lengths() {
		f.add(l.flag, l.is)
	}
	f.add("article", &w.article)
	f.out(&w.chart.files)
}

// A length is a flag with a length of time.
type length struct {
	flag string
	is   *time.Duration
}

func (w *waitingFlags) lengths() []length {
	return []length{{"service", &w.load.Service}, {"latency", &w.load.Latency}, {"hold", &w.load.Hold}, {"poll", &w.load.Poll}}
}

func (w *waitingFlags) run(e *env, _ []string) error {
	counts, err := waitingSizes(w.sizes)
	if err != nil {
		return err
	}
	policies, err := pickPolicies(w.policies)
	if err != nil {
		return err
	}
	for _, l := range w.lengths() {
		if *l.is < time.Microsecond || *l.is > time.Second {
			return text.Errorf("error.waiting.length", "flag", "--"+l.flag, "value", *l.is)
		}
	}
	if err := w.chart.check(e); err != nil {
		return err
	}
	if w.article && e.elsewhere != nil {
		return text.Errorf("error.waiting.article")
	}
	drawn := &chart.WaitingChart{Load: w.load}
	work, end := e.work(len(policies)*len(counts), "progress.runs")
	drawn.Results, err = cost.FindWaiting(e.ctx, policies, counts, w.load, work)
	end()
	if err == nil && w.article {
		drawn.Article, err = cost.Article(e.ctx, nil)
	}
	return w.chart.show(e, drawn, err, "locklab waiting -o waiting.png", "locklab price", "locklab explain redisson-lock")
}

func waitingSizes(arg string) (sizes []int, err error) {
	for _, item := range strings.Split(arg, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		switch {
		case err != nil || n < 2 || n > cost.MaxClients:
			return nil, text.Errorf("error.waiting.clients", "value", item, "most", cost.MaxClients)
		case len(sizes) > 0 && n <= sizes[len(sizes)-1]:
			return nil, text.Errorf("error.sweep.rising", "value", item, "before", sizes[len(sizes)-1])
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// pickPolicies returns those that are named; without names all.
func pickPolicies(names []string) (chosen []cost.Policy, err error) {
	all := cost.Policies()
	if names == nil {
		return all, nil
	}
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	for _, n := range names {
		i := slices.Index(ids, n)
		if i < 0 {
			return nil, text.Errorf("error.waiting.policy", "name", n, "near", text.Near(n, ids), "names", strings.Join(ids, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
