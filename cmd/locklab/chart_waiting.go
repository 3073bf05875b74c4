package main

import (
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

func waitingChart() *figure {
	var (
		sizes    []int
		policies []string
		load     = cost.UsualLoad()
	)
	d := &figure{once: 8, minutes: true, // and it is about ways to wait, not about the locks of a report
		next: []string{"locklab chart waiting -o waiting.png", "locklab chart rate", "locklab explain redisson-lock"}}
	d.command = &command{
		use: "waiting",
		examples: []string{"chart waiting",
			"chart waiting --clients 2,100 --policies fixed,backoff,pubsub,line --poll 20ms -o waiting.png"},
		flags: func(f *flags) {
			parse(f, "clients", "2,10,50,200", &sizes, parseSizes)
			f.add("policies", &policies)
			ranged(f, "work", &load.Work, time.Microsecond, time.Second)
			ranged(f, "poll", &load.Poll, time.Microsecond, time.Second)
		},
	}
	d.draw = func(e *env, _ []lock.Entry) (chart.Result, error) {
		chosen, err := pickPolicies(policies)
		if err != nil {
			return nil, err
		}
		w, end := e.work(len(chosen)*len(sizes), "progress.runs")
		defer end()
		found, err := cost.FindWaiting(e.ctx, chosen, sizes, load, w)
		return &chart.WaitingChart{Load: load, Results: found}, err
	}
	d.report = func(e *env, _ *report.Report, _ []lock.Entry) (chart.Result, error) {
		sizes = []int{2, 10, 25} // so few that it takes seconds
		return d.draw(e, nil)
	}
	return d
}

// parseSizes reads rising numbers of clients.
func parseSizes(arg string) (sizes []int, err error) {
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
	for _, n := range names {
		i, err := choose("error.waiting.policy", n, lists.Each(all, func(p cost.Policy) string { return p.ID }))
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
