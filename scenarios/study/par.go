// Package study makes many runs and searches, whose results are rows of a table: the fewest faults that a verdict
// takes, the largest that a lock tolerates, how often runs end in one, and what is proved for any number of clients.
package study

import (
	"cmp"
	"context"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// ParWords are the verdicts that have a par.
func ParWords() []verdict.Word {
	return []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Deadlock}
}

// SingleFaults are budgets that allow one fault once: every fault that has no size, or may have any size.
func SingleFaults() []string {
	return []string{"crash=1", "pause=1", "lose-reply=1", "lose-request=1", "restart=1", "failover=1"}
}

// A ParTable is the par of each of several verdicts, for several locks, within several budgets.
type ParTable struct {
	Locks    []lock.Entry
	Verdicts []verdict.Word
	Within   search.Bounds // of the searches, without a budget
	Budgets  []string      // one search each
	Rows     []Par         // by lock, by budget, then by verdict
}

// A Par is the smallest number of faults with which a verdict comes about within a budget.
type Par struct {
	Lock     string
	Budget   string
	Verdict  verdict.Word
	Late     int    // clients of the last search that was complete, or has found it, at any timing; 0: in lockstep
	Complete bool   // the search was complete: Par is the smallest number, or there is no way within its bounds
	Unjudged bool   // it takes more clients to show the verdict, or none can: nothing is known
	Found    bool   // the search has found the verdict; otherwise the fields below are empty
	Par      int    // number of faults
	Steps    int    // fewest choices with that many faults
	Trace    string // link to the shortest way
}

// FindPars searches each lock within b, once for each of the budgets, and where that finds nothing at any timing too:
// b.Clients, and one more that take the lock once. With b.Nodes 0 a lock gets FewServers.
//
// w and ctx are as for Matrix; of a search that did not finish nothing is known.
func FindPars(ctx context.Context, locks []lock.Entry, b search.Bounds, budgets []string, w *share.Work) (*ParTable,
	error) {
	b.Budget = ""
	table := &ParTable{Locks: locks, Verdicts: ParWords(), Within: b, Budgets: budgets}
	found, err := share.Each(ctx, rising(len(locks)*len(budgets)), w,
		func(ctx context.Context, i int) ([]Par, error) {
			b, entry := b, locks[i/len(budgets)]
			b.Budget = faults.Budget(budgets[i%len(budgets)])
			b.Nodes = cmp.Or(b.Nodes, search.FewServers(entry))
			return findPars(ctx, entry, b)
		})
	for i, pars := range found {
		none := parsOf(locks[i/len(budgets)], budgets[i%len(budgets)], nil)
		table.Rows = append(table.Rows, *cmp.Or(pars, &none)...)
	}
	return table, err
}

// findPars searches a lock within one budget.
func findPars(ctx context.Context, entry lock.Entry, b search.Bounds) ([]Par, error) {
	pars := parsOf(entry, string(b.Budget), nil)
	for n := range 3 {
		s, err := search.Explore(ctx, entry, b)
		if err != nil {
			return nil, err
		}
		for i, p := range parsOf(entry, string(b.Budget), s) {
			if !pars[i].Found && (n == 0 || p.Found || p.Complete) {
				pars[i] = p
			}
		}
		if !s.Complete || n == 0 && slices.ContainsFunc(pars, func(p Par) bool { return p.Found }) {
			break
		}
		if b.Timing, b.MaxStates = search.AnyTiming, min(b.MaxStates, 2_000_000); n == 1 {
			b.Clients, b.Attempts = min(b.Clients+1, simulator.MaxClients-2), 1
		}
	}
	return pars, nil
}

// rising are so many tasks, each longer than the one before: the locks that came last are the longest to search.
func rising(n int) (tasks []share.Task) {
	for i := range n {
		tasks = append(tasks, share.Task{Cost: float64(i) / float64(n)})
	}
	return tasks
}

// Prepend puts a lock before the others. searches are one for each budget.
func (t *ParTable) Prepend(entry lock.Entry, searches []*search.Search) {
	t.Locks = append([]lock.Entry{entry}, t.Locks...)
	var rows []Par
	for k, s := range searches {
		rows = append(rows, parsOf(entry, t.Budgets[k], s)...)
	}
	t.Rows = append(rows, t.Rows...)
}

// parsOf takes the pars of ParWords from a search, complete or not; nil: nothing is known. Code that never says whether
// a release gave its lock back tells no LIE, and has none.
func parsOf(entry lock.Entry, budget string, s *search.Search) (pars []Par) {
	for _, w := range ParWords() {
		if s != nil && s.NoClaims && w == verdict.Lie {
			continue
		}
		p := Par{Lock: entry.ID, Budget: budget, Verdict: w}
		if s != nil {
			if p.Complete = s.Complete; s.Bounds.Timing == search.AnyTiming {
				p.Late = s.Bounds.Clients
			}
			p.Unjudged = slices.Contains(s.Unjudged(), w) || !slices.Contains(s.Looked(), w)
			for _, found := range s.Witnesses {
				if found.Verdict == w && (!p.Found || cmp.Or(found.Par-p.Par, found.Steps-p.Steps) < 0) {
					p.Found, p.Unjudged = true, false
					p.Par, p.Steps, p.Trace = found.Par, found.Steps, found.Trace.Link()
				}
			}
		}
		pars = append(pars, p)
	}
	return pars
}
