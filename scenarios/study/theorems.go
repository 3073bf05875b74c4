package study

import (
	"cmp"
	"context"
	"slices"

	"locklab/algorithms/lock"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Theorem is what is known of one verdict, for one lock under one budget of faults, at any timing.
type Theorem struct {
	Lock    string
	Budget  string
	Verdict verdict.Word
	Extent  Extent
	Clients int      // of the shortest run that comes to it, if its extent is Fails
	Par     int      // the faults of that run
	Trace   string   // its link
	Why     string   // it is not proved for any number of clients and attempts: the key of a text
	Lemmas  []string // of LemmaKeys: those that hold in all views of its proof
}

// An Extent says for whom a verdict is impossible.
type Extent string

const (
	Unbounded  Extent = "any"    // for any number of clients and attempts
	OneAttempt Extent = "once"   // for any number of clients, each of which takes the lock once
	Bounded    Extent = "bounds" // for two clients that take it once, with each fault once
	Fails      Extent = "fails"  // it can happen
	Undecided  Extent = "open"   // neither proved nor found; without a Why: not computed
)

// Extents are all extents, the widest first.
func Extents() []Extent { return []Extent{Unbounded, OneAttempt, Bounded, Fails, Undecided} }

// Theorems are those of several locks: by lock, by budget, then by verdict.
type Theorems struct {
	Locks   []lock.Entry
	Budgets []string // as bounds are written with them
	All     []Theorem
}

// At returns the theorem of the n-th of TheoremWords for lock l under budget k.
func (t *Theorems) At(l, k, n int) *Theorem {
	return &t.All[(l*len(t.Budgets)+k)*len(explore.Provable)+n]
}

// TheoremWords are the verdicts that theorems are about, in their order.
func TheoremWords() []verdict.Word { return explore.Provable }

// TheoremBudgets ask one question for each kind of fault: any number of times where locks survive that, and once
// where the second is another question. A pause of 2s leaves a lease of 9s with work of 3s its slack.
func TheoremBudgets() []string {
	return []string{"crash=any", "pause=1@2s", "pause=1", "lose-reply=any", "lose-request=any", "restart=any",
		"failover=1"}
}

// FindTheorems proves what it can for each lock under each budget, and searches for the rest, within lower limits than
// Prove's. A lock for several servers gets FewServers. w and ctx are as for Matrix. What was not computed is Undecided.
func FindTheorems(ctx context.Context, locks []lock.Entry, budgets []string, w *share.Work) (*Theorems, error) {
	t, tables := &Theorems{Locks: locks, Budgets: budgets}, lists.Each(locks, search.NewProofs)
	found, err := share.Each(ctx, rising(len(locks)*len(budgets)), w,
		func(ctx context.Context, i int) ([]Theorem, error) {
			return theoremsOf(ctx, locks[i/len(budgets)], tables[i/len(budgets)], budgets[i%len(budgets)])
		})
	for i, all := range found {
		if all == nil {
			open := openTheorems(locks[i/len(budgets)].ID, budgets[i%len(budgets)])
			all = &open
		}
		t.All = append(t.All, *all...)
	}
	return t, err
}

// openTheorems are those of which nothing is known.
func openTheorems(id, budget string) (all []Theorem) {
	for _, w := range explore.Provable {
		all = append(all, Theorem{Lock: id, Budget: budget, Verdict: w, Extent: Undecided})
	}
	return all
}

// theoremsOf are those of a lock under a budget.
func theoremsOf(ctx context.Context, entry lock.Entry, proofs *search.Proofs, written string) ([]Theorem, error) {
	b := search.DefaultBounds()
	b.Nodes = search.FewServers(entry)
	if err := b.Set("budget", written); err != nil {
		return nil, err
	}
	p, err := proofs.Prove(ctx, b)
	if err != nil {
		return nil, err
	}
	all := openTheorems(entry.ID, written)
	for i := range all {
		all[i].take(p)
	}
	return all, nil
}

// take notes what a proof says of the verdict.
func (t *Theorem) take(p *search.Proof) {
	t.Why = p.Reason()
	switch s, w := p.BrokenBy(t.Verdict); {
	case s != nil:
		t.Extent, t.Clients, t.Par, t.Trace = Fails, s.Bounds.Clients, w.Par, w.Trace.Link()
	case slices.Contains(p.Proved(), t.Verdict) && p.Once.IsZero():
		t.Extent, t.Lemmas = Unbounded, p.Holding()
	case slices.Contains(p.Proved(), t.Verdict):
		t.Extent, t.Why, t.Lemmas = OneAttempt, p.Once.Key, p.Holding()
	default:
		t.Why = cmp.Or(t.Why, "prove.open")
		n := search.Enough(p.Search.Lock, t.Verdict)
		// without a lock only that is judged
		if p.Searched && 0 < n && n <= 2 && (p.Search.Lock.Guard == "" || t.Verdict == verdict.StaleWrite) {
			t.Extent = Bounded
		}
	}
}
