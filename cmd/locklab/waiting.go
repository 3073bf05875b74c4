package main

import (
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

func waitingCommand() *command {
	var (
		sizes    []int
		policies []string
		load     = cost.UsualLoad()
		c        = &chartFlags{numbers: true}
	)
	c.next = []string{"locklab chart waiting -o waiting.png", "locklab chart rate", "locklab explain redisson-lock"}
	return &command{
		use: "waiting", args: noArguments,
		examples: []string{"chart waiting", "chart waiting --clients 2,100 --policies fixed,backoff,pubsub,line --poll 20ms -o waiting.png"},
		flags: func(f *flags) {
			parse(f, "clients", "2,10,50,200,1000", &sizes, parseSizes)
			f.add("policies", &policies)
			for flag, is := range map[string]*time.Duration{
				"service": &load.Service, "latency": &load.Latency, "hold": &load.Hold, "poll": &load.Poll,
			} {
				ranged(f, flag, is, time.Microsecond, time.Second, "error.waiting.length")
			}
			c.addFiles(f)
		},
		run: c.run(noLocks, func(e *env, _ []lock.Entry) (chart.Result, error) {
			chosen, err := pickPolicies(policies)
			if err != nil {
				return nil, err
			}
			drawn := &chart.WaitingChart{Load: load}
			work, end := e.work(len(chosen)*len(sizes), "progress.runs")
			drawn.Results, err = cost.FindWaiting(e.ctx, chosen, sizes, load, work)
			end()
			return drawn, err
		}),
	}
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
