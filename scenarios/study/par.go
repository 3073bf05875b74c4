// Package study makes many runs and searches, whose results are rows of a table: the fewest faults that a verdict takes, the
// largest fault that a lock tolerates, how often runs end in a verdict, and what is proved for any number of clients.
package study

import (
	"context"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
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

// A ParTable is the par of each of several verdicts, for several locks.
type ParTable struct {
	Locks    []lock.Entry
	Verdicts []verdict.Word
	Pars     []Par         // by lock, then by verdict
	Within   search.Bounds // of the searches, without a budget
	Budgets  []string      // one search each
	Each     []Par         // of each search alone: by lock, by budget, then by verdict
	States   int           // of all searches
}

// At is the par of the n-th verdict for lock l.
func (t *ParTable) At(l, n int) *Par { return &t.Pars[l*len(t.Verdicts)+n] }

// Of is the par of the n-th verdict for lock l, with the k-th budget alone.
func (t *ParTable) Of(l, k, n int) *Par {
	return &t.Each[(l*len(t.Budgets)+k)*len(t.Verdicts)+n]
}

// A Par is the smallest number of faults with which a verdict comes about.
type Par struct {
	Lock     string       `json:"lock"`
	Verdict  verdict.Word `json:"verdict"`
	Complete bool         `json:"complete"`           // all searches were complete: Par is the smallest number, or there is no way
	Unjudged bool         `json:"unjudged,omitempty"` // it takes more clients to show the verdict, or none can: nothing is known
	Found    bool         `json:"found"`              // some search has found the verdict; otherwise the fields below are empty
	Par      int          `json:"par"`                // number of faults
	Steps    int          `json:"steps"`              // fewest choices with that many faults
	Ways     []string     `json:"faults"`             // the faults, as in "crash" or "crash+pause"; one way from each budget that has it
	Trace    string       `json:"trace,omitempty"`    // link to the shortest way
}

// FindPars searches each lock within b, once for each of the budgets, and keeps the
// smallest par of each of ParWords. With b.Nodes 0 a lock gets FewServers.
//
// w and ctx are as for Matrix; of a lock whose searches did not all finish nothing is
// known.
func FindPars(ctx context.Context, locks []lock.Entry, b search.Bounds, budgets []string, w *share.Work) (*ParTable, error) {
	b.Budget = ""
	table := &ParTable{Locks: locks, Verdicts: ParWords(), Within: b, Budgets: budgets}
	var tasks []share.Task
	for l := range locks { // the locks that came last are the longest to search
		for range budgets {
			tasks = append(tasks, share.Task{Cost: float64(l) / float64(len(locks))})
		}
	}
	found, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (search.Search, error) {
		entry := locks[i/len(budgets)]
		s, err := search.Explore(ctx, entry, forPar(b, entry, budgets[i%len(budgets)]))
		if err != nil {
			return search.Search{}, err
		}
		return *s, nil
	})
	for l, entry := range locks {
		searches := found[l*len(budgets) : (l+1)*len(budgets)]
		if slices.Contains(searches, nil) {
			searches = nil
		}
		for _, s := range searches {
			table.States += s.States
		}
		table.Pars = append(table.Pars, ParsOf(entry, searches)...)
		table.Each = append(table.Each, parsOfEach(entry, searches, len(budgets))...)
	}
	return table, err
}

// Prepend puts a lock before the others. searches are one for each budget.
func (t *ParTable) Prepend(entry lock.Entry, searches []*search.Search) {
	t.Locks = append([]lock.Entry{entry}, t.Locks...)
	t.Pars = append(ParsOf(entry, searches), t.Pars...)
	t.Each = append(parsOfEach(entry, searches, len(t.Budgets)), t.Each...)
	for _, s := range searches {
		t.States += s.States
	}
}

// parsOfEach takes the pars from each search alone. Without searches nothing is known
// within any of the budgets.
func parsOfEach(entry lock.Entry, searches []*search.Search, budgets int) (pars []Par) {
	for k := range budgets {
		pars = append(pars, ParsOf(entry, searches[min(k, len(searches)):min(k+1, len(searches))])...)
	}
	return pars
}

func forPar(b search.Bounds, entry lock.Entry, budget string) search.Bounds {
	b.Budget = faults.Budget(budget)
	if b.Nodes == 0 {
		b.Nodes = search.FewServers(entry)
	}
	return b
}

// ParsOf takes the pars of ParWords from complete or incomplete searches of a lock.
func ParsOf(entry lock.Entry, searches []*search.Search) (pars []Par) {
	for _, w := range ParWords() {
		p := Par{Lock: entry.ID, Verdict: w, Complete: len(searches) > 0, Ways: []string{}}
		for _, s := range searches {
			p.Complete = p.Complete && s.Result.Complete
			p.Unjudged = p.Unjudged || slices.Contains(s.Unjudged(), w) || !slices.Contains(s.Looked(), w)
			for _, found := range s.Witnesses {
				if found.Verdict == w {
					p.take(found)
				}
			}
		}
		p.Unjudged = p.Unjudged && !p.Found
		pars = append(pars, p)
	}
	return pars
}

// take keeps the smaller of the par so far and that of a witness.
func (p *Par) take(w search.Witness) {
	way := search.InjectedFaults(w.Trace.Choices)
	switch {
	case p.Found && w.Par > p.Par:
		return
	case !p.Found || w.Par < p.Par:
		p.Found, p.Par, p.Steps, p.Ways, p.Trace = true, w.Par, w.Steps, []string{}, w.Trace.Link()
	case w.Steps < p.Steps:
		p.Steps, p.Trace = w.Steps, w.Trace.Link()
	}
	if !slices.Contains(p.Ways, way) {
		p.Ways = append(p.Ways, way)
	}
}
