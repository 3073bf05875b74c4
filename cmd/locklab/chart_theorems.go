package main

import (
	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
)

func theoremsChart() *figure {
	budgets := study.TheoremBudgets()
	d := &figure{usual: algorithms.Milestones, minutes: true, each: 35,
		next: []string{"locklab chart theorems -o theorems.png", "locklab prove token", "locklab chart par"}}
	d.draw = func(e *env, entries []lock.Entry) (chart.Result, error) {
		var read []string
		for i, written := range budgets {
			budget, endless, err := search.ParseBudget(written)
			if err != nil {
				return nil, err
			}
			read = append(read, string(budget.Canonical()))
			if !endless {
				budgets[i] = read[i]
			}
		}
		if err := checkBudgets(entries, search.DefaultBounds(), read); err != nil {
			return nil, err
		}
		return findTheorems(e, entries, budgets)
	}
	d.command = &command{
		use: "theorems", texts: []string{"theorems", "chart"},
		examples: []string{"chart theorems", "chart theorems --locks setnx,token --budget crash=any",
			"chart theorems --locks one-step -o theorems.csv"},
		flags: func(f *flags) { f.each("budget", &budgets) },
	}
	return d
}

// findTheorems proves and searches what can happen to each lock, for any number of clients.
func findTheorems(e *env, entries []lock.Entry, budgets []string) (*chart.Theorems, error) {
	w, end := e.work(len(entries)*len(budgets), "progress.proofs")
	defer end()
	found, err := study.FindTheorems(e.ctx, entries, budgets, w)
	return &chart.Theorems{Theorems: *found}, err
}
