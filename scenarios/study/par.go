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

// ParWords are the verdicts that have a par.
func ParWords() []verdict.Word {
	return []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Deadlock}
}

// SingleFaults are budgets that allow one fault once: every fault that has no size, or
// may have any size.
func SingleFaults() []string {
	return []string{"crash=1", "pause=1", "lose-reply=1", "lose-request=1", "restart=1", "failover=1"}
}

// Pars are the pars of one lock.
type Pars struct {
	Strategy lock.Entry
	Bounds   Bounds // of the searches, without their Budget
	Pars     []Par  // one for each of ParWords, in that order
	States   int    // of all searches
}

// A Par is the smallest number of faults with which a verdict comes about.
type Par struct {
	Verdict  verdict.Word
	Complete bool            // all searches were complete: Par is the smallest number, or there is no way
	Found    bool            // some search has found the verdict; otherwise the fields below are zero
	Par      int             // number of faults
	Steps    int             // fewest choices with that many faults
	Ways     []string        // the faults, as in "crash" or "crash+pause"; one way from each budget that has it
	Trace    simulator.Trace // the shortest way
}

// ParTable searches each lock within b, once for each of the budgets, and keeps the
// smallest par of each verdict. With b.Nodes 0 a lock gets FewServers.
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

// ParsOf takes the pars from complete or incomplete searches of a lock. b says what they
// have in common.
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

// take keeps the smaller of the par so far and that of a witness.
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

// InjectedFaults names the faults among the choices in their order, as in
// "crash+pause"; "" where there are none.
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
