package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

func (a *app) waiting() *cobra.Command {
	var (
		sizes    string
		chosen   []string
		article  bool
		load     = cost.UsualLoad()
		lengths  = map[string]*time.Duration{"service": &load.Service, "latency": &load.Latency, "hold": &load.Hold, "poll": &load.Poll}
		files    []string
		policies []cost.Policy
	)
	c := &cobra.Command{
		Use:     "waiting",
		Example: a.examples("waiting", "waiting", "waiting --clients 2,100 --policies fixed,backoff,pubsub,line --poll 20ms -o waiting.png", "waiting --clients 10 --policies none --article"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			counts, err := waitingSizes(sizes)
			if err != nil {
				return err
			}
			if policies, err = pickPolicies(chosen); err != nil {
				return err
			}
			for _, name := range []string{"service", "latency", "hold", "poll"} {
				if d := *lengths[name]; d < time.Microsecond || d > time.Second {
					return text.Errorf("error.waiting.length", "flag", "--"+name, "value", d)
				}
			}
			files := withNumbers(files)
			if err := a.checkCharts(files); err != nil {
				return err
			}
			if article && a.elsewhere != nil {
				return text.Errorf("error.waiting.article")
			}
			drawn := &chart.WaitingChart{Load: load, Lang: a.Langs()[0]}
			done, end := a.progress(len(policies)*len(counts), "progress.runs")
			drawn.Results, err = cost.FindWaiting(c.Context(), policies, counts, load, done)
			end()
			if err == nil && article {
				drawn.Article, err = cost.Article(c.Context(), nil)
			}
			out := waitingJSON{schema, errors.Is(err, context.Canceled), drawn.Takeaway("en"), drawn.Assumptions("en"), drawn.Results, drawn.Article}
			return a.showChart(drawn, err, files, out, "locklab waiting -o waiting.png", "locklab price", "locklab explain redisson-lock")
		},
	}
	f, usage := c.Flags(), a.usage("waiting")
	f.StringVar(&sizes, "clients", "2,10,50,200,1000", usage("clients"))
	f.StringSliceVar(&chosen, "policies", nil, usage("policies"))
	f.DurationVar(&load.Service, "service", load.Service, usage("service"))
	f.DurationVar(&load.Latency, "latency", load.Latency, usage("latency"))
	f.DurationVar(&load.Hold, "hold", load.Hold, usage("hold"))
	f.DurationVar(&load.Poll, "poll", load.Poll, usage("poll"))
	f.BoolVar(&article, "article", false, usage("article"))
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
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

type waitingJSON struct {
	Version     int                  `json:"version"`
	Incomplete  bool                 `json:"incomplete,omitempty"`
	Takeaway    string               `json:"takeaway"`
	Assumptions string               `json:"assumptions"`
	Results     []cost.WaitingResult `json:"results"`
	Article     []cost.ArticleRun    `json:"article,omitempty"`
}
