package study

import (
	"context"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// ParWords are the verdicts whose par is looked for.
func ParWords() []verdict.Word {
	return []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Deadlock}
}

// SingleFaults are budgets of one strike each, of every fault that has no size or
// may have any.
func SingleFaults() []string {
	return []string{"crash=1", "pause=1", "lose-reply=1", "lose-request=1", "restart=1", "failover=1"}
}

// Pars is how little bad luck a lock needs for each of ParWords.
type Pars struct {
	Strategy lock.Entry
	Bounds   Bounds // Budget is none of the searches'
	Pars     []Par
	States   int // of all searches
}

// A Par is the least bad luck with which a verdict comes about.
type Par struct {
	Verdict  verdict.Word
	Complete bool // all searches were complete: Par is the least, or there is no way
	Found    bool
	Par      int      // fewest strikes of faults
	Steps    int      // fewest choices with that many
	Ways     []string // which faults those are, as in "crash" or "crash+pause"; one way from each budget that has it
	Trace    simulator.Trace
}

// ParTable searches each lock within b once for each of the budgets, and keeps
// for each verdict the least bad luck of all. With b.Nodes 0 a lock gets
// FrontierNodes servers.
//
// done and ctx are as for Matrix; a lock that was not finished is nil.
func ParTable(ctx context.Context, locks []lock.Entry, b Bounds, budgets []string, done func(n int)) ([]*Pars, error) {
	found := make([][]*Search, len(locks))
	for i := range found {
		found[i] = make([]*Search, len(budgets))
	}
	n := len(locks) * len(budgets)
	err := Each(ctx, n, done, func(i int) error {
		i = n - 1 - i // the locks that came last are the longest to search
		l, k := i/len(budgets), i%len(budgets)
		s, err := Explore(ctx, locks[l], b.forPar(locks[l], budgets[k]))
		if err == nil {
			found[l][k] = s
		}
		return err
	})
	table := make([]*Pars, len(locks))
	for l, entry := range locks {
		if !slices.Contains(found[l], nil) {
			table[l] = ParsOf(entry, b.forPar(entry, ""), found[l])
		}
	}
	return table, err
}

func (b Bounds) forPar(entry lock.Entry, budget string) Bounds {
	b.Budget = budget
	if b.Nodes == 0 {
		b.Nodes = FewServers(entry)
	}
	return b
}

func ParsOf(entry lock.Entry, b Bounds, searches []*Search) *Pars {
	out := &Pars{Strategy: entry, Bounds: b}
	for _, w := range ParWords() {
		p := Par{Verdict: w, Complete: true}
		for _, s := range searches {
			p.Complete = p.Complete && s.Result.Complete
			for _, found := range s.Witnesses {
				if found.Verdict == w {
					p.take(found)
				}
			}
		}
		out.Pars = append(out.Pars, p)
	}
	for _, s := range searches {
		out.States += s.Result.States
	}
	return out
}

// take keeps the better of what was known and a witness.
func (p *Par) take(w Witness) {
	way := InjectedFaults(w.Trace.Choices)
	switch {
	case p.Found && w.Par > p.Par:
		return
	case !p.Found || w.Par < p.Par:
		p.Found, p.Par, p.Steps, p.Ways, p.Trace = true, w.Par, w.Steps, nil, w.Trace
	case w.Steps < p.Steps:
		p.Steps, p.Trace = w.Steps, w.Trace
	}
	if !slices.Contains(p.Ways, way) {
		p.Ways = append(p.Ways, way)
	}
}

// strikes names the faults among the choices, in their order; "" without any.
func InjectedFaults(choices []simulator.Choice) string {
	var names []string
	for _, c := range choices {
		for _, f := range faults.All() {
			if f.Verb() == c.Verb {
				names = append(names, f.Name())
			}
		}
	}
	return strings.Join(names, "+")
}
