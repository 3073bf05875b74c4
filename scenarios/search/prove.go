package search

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Proof is what views have shown of a lock for any number of clients: package explore has the argument.
type Proof struct {
	*explore.Proof
	// Search has the bounds and the assumptions of the proof, of which nothing was searched.
	Search *Search
	// Broken are the verdicts that searches of few clients have found, each with its shortest way; Open are those that
	// some two views come to and no search has found.
	Broken []*Search
	Open   []verdict.Word
	// Searched: two clients that take the lock once were searched completely, with each fault once.
	Searched bool
	Said     *Said // in words; nil: nothing
}

// AnyTimes stands in a budget for the number of a fault that is never used up.
const AnyTimes = "any"

// ParseBudget reads a budget in which all faults strike any number of times, as in crash=any,pause=any@2s; false:
// none does. The error is that some do.
func ParseBudget(written string) (faults.Budget, bool, error) {
	if !strings.Contains(written, "="+AnyTimes) {
		return faults.Budget(written).Canonical(), false, nil
	}
	for item := range strings.SplitSeq(written, ",") {
		if _, times, _ := strings.Cut(item, "="); times != AnyTimes && !strings.HasPrefix(times, AnyTimes+"@") {
			return "", false, i18n.Errorf("error.prove.mixed", "item", item)
		}
	}
	return faults.Budget(strings.ReplaceAll(written, "="+AnyTimes, "=1")), true, nil
}

// proofLimits are the number of views at which a proof is given up, and those of each search for a witness: few where
// one of two clients with one attempt each has shown that the others are not complete within states.
type proofLimits struct {
	views, states, few int
	large              bool // it has
}

var (
	usualLimits = proofLimits{views: 300_000, states: 300_000, few: 300_000}
	tableLimits = proofLimits{views: 120_000, states: 300_000, few: 50_000} // of a table, which has many
	codeLimits  = proofLimits{views: 100_000, states: 20_000, few: 10_000}  // code of a test, which is slower
)

// ManyTimes as many states as two clients with one attempt each have those with two attempts, and three clients, at
// least: measured over all locks.
const ManyTimes = 5

// Prove proves what it can for any number of clients, at any timing within b, whose Clients, Attempts, Retries and
// Uses play no part. What views do not exclude is searched for with two and three clients: all of it where views do
// not do. The errors are those of [Explore].
func Prove(ctx context.Context, entry lock.Entry, b Bounds) (*Proof, error) {
	return prove(ctx, entry, b.forProof(), usualLimits, nil)
}

// Proofs prove a lock under many budgets, within lower limits than Prove. Of a lock that has too many views without a
// fault, which are among those under any budget, they find that out once.
type Proofs struct {
	entry   lock.Entry
	once    sync.Once
	crowded error // without a fault; nil: it is not, or that is not known
}

// NewProofs are those of a lock. Prove may be called by several goroutines.
func NewProofs(entry lock.Entry) *Proofs { return &Proofs{entry: entry} }

// Prove is Prove within b, whose budget alone may differ from call to call.
func (t *Proofs) Prove(ctx context.Context, b Bounds) (*Proof, error) {
	b = b.forProof()
	t.once.Do(func() {
		bare := b
		bare.Budget, bare.Endless = "", false
		p, err := proveViews(ctx, t.entry, bare, tableLimits, codeOf(t.entry))
		why := (*explore.NotProvableError)(nil)
		if err == nil && errors.As(p.Refused, &why) && why.Why.Key == explore.TooManyViews {
			t.crowded = why
		}
	})
	return prove(ctx, t.entry, b, tableLimits, t.crowded)
}

// codeOf is the code of an entry.
func codeOf(entry lock.Entry) *Code {
	return &Code{
		Model:  func(b Bounds) (*explore.Model, error) { return b.Model(entry) },
		Search: func(ctx context.Context, b Bounds) (*Search, error) { return Explore(ctx, entry, b) },
	}
}

// prove is Prove within limits. crowded is why the lock is known to have too many views; nil: it is not.
func prove(ctx context.Context, entry lock.Entry, b Bounds, most proofLimits, crowded error) (p *Proof, err error) {
	code := codeOf(entry)
	if crowded != nil {
		p = &Proof{Proof: &explore.Proof{Refused: crowded},
			Search: &Search{Lock: entry, Bounds: b.Settled(entry), Result: &explore.Result{}}}
	} else if p, err = proveViews(ctx, entry, b, most, code); err != nil || entry.Ensemble() {
		return p, err
	}
	if p.Refused != nil {
		return p, p.findWitnesses(ctx, b, explore.Provable, most, code)
	}
	return p, p.findWitnesses(ctx, b, p.Harms, most, code)
}

// Code is code that is proved in place of that of an entry.
type Code struct {
	Model  func(b Bounds) (*explore.Model, error)
	Search func(ctx context.Context, b Bounds) (*Search, error)
	Once   i18n.Message // why each client takes the lock once; zero: the code rests between two attempts
}

// ProveCode is Prove of other code than entry's, with one attempt of each client. Without a proof nothing is searched.
func ProveCode(ctx context.Context, entry lock.Entry, b Bounds, code *Code) (*Proof, error) {
	b = b.forProof()
	b.Attempts = 1
	p, err := proveViews(ctx, entry, b, codeLimits, code)
	if err != nil || p.Refused != nil {
		return p, err
	}
	return p, p.findWitnesses(ctx, b, p.Harms, codeLimits, code)
}

// proveViews computes the views of code.
func proveViews(ctx context.Context, entry lock.Entry, b Bounds, most proofLimits, code *Code) (*Proof, error) {
	if err := counted(b, b.Attempts, 1).Check(entry); err != nil {
		return nil, err
	}
	p := &Proof{Search: &Search{Lock: entry, Bounds: b.Settled(entry), Result: &explore.Result{}}}
	why := ""
	switch {
	case entry.Guard != "":
		why = "prove.unlocked"
	case entry.Holders != 0 && entry.Ensemble(), entry.Holders == lock.AnyNumber, entry.Holders > explore.MostHolders:
		why = "prove.holders"
	case entry.Ensemble():
		why = "prove.ensemble"
	}
	if why != "" {
		p.Proof = &explore.Proof{Refused: &explore.NotProvableError{Why: i18n.New(why)}}
		return p, nil
	}
	m, err := code.Model(p.Search.Bounds)
	if err != nil {
		return nil, err
	}
	if p.Proof, err = explore.ProveFor(ctx, m, b.Endless, most.views); err != nil {
		return nil, err
	}
	if p.Once.IsZero() {
		p.Once = code.Once
	}
	p.Search.Result = &p.Covered
	if names := p.Search.Untriggered(); p.Refused == nil && names != nil { // nothing is said of them
		p.Closed, p.Refused = false, &explore.NotProvableError{Why: i18n.New("prove.untriggered", "faults",
			strings.Join(names, ", "))}
	}
	return p, nil
}

// forProof is b with the numbers that a proof for any number of clients has.
func (b Bounds) forProof() Bounds {
	b.Timing, b.Attempts, b.Retries, b.Uses, b.Clients = AnyTiming, 2, 0, 0, 2+explore.Outsiders
	return b
}

// ProofBounds are the usual bounds of a proof: no faults.
func ProofBounds() Bounds {
	b := DefaultBounds().forProof()
	b.Budget = ""
	return b
}

// inTimes is an endless budget, as EndlessBudget returns it, in which each fault strikes so many times.
func inTimes(b faults.Budget, times string) faults.Budget {
	return faults.Budget(strings.ReplaceAll(string(b), "=1", "="+times))
}

// findWitnesses searches few clients for these verdicts; those that none finds are Open. Where each client takes the
// lock once, a second attempt can come to others: then these count as harms too.
func (p *Proof) findWitnesses(ctx context.Context, b Bounds, harms []verdict.Word, most proofLimits, code *Code) error {
	p.Open = slices.Clone(harms)
	for _, size := range p.sizes() {
		again := p.Closed && !p.Once.IsZero() && size == twice
		if len(p.Open) == 0 && !again {
			continue
		}
		s, err := code.Search(ctx, p.few(b, size, most))
		if err != nil {
			return err
		}
		p.Searched = p.Searched || s.Result.Complete && s.Bounds.Timing == AnyTiming
		most.large = most.large || size == once && (!s.Complete || s.States > most.states/ManyTimes)
		news := 0
		for _, w := range s.Witnesses {
			at := slices.Index(p.Open, w.Verdict)
			switch {
			case at >= 0:
				p.Open = slices.Delete(p.Open, at, at+1)
			case again && slices.Contains(p.Proved(), w.Verdict):
				p.Harms = append(p.Harms, w.Verdict)
			default:
				continue
			}
			news++
		}
		if news > 0 {
			p.Broken = append(p.Broken, s)
		}
	}
	return nil
}

// few are the bounds of the search of a size.
func (p *Proof) few(b Bounds, size size, most proofLimits) Bounds {
	few := counted(b, size.attempts, size.faults)
	few.Clients, few.MaxStates = size.clients, most.states
	switch {
	case size.lockstep:
		few.Timing = Lockstep
	case most.large:
		few.MaxStates = most.few
	}
	return few
}

// A size is that of a search for a witness. Of faults there are as many of each kind, where none is ever used up.
type size struct {
	clients, attempts, faults int
	lockstep                  bool
}

// once is two clients that take the lock once, and twice two that take it twice.
var once, twice = size{2, 1, 1, false}, size{2, 2, 1, false}

func (p *Proof) sizes() []size {
	sizes := []size{once, twice, {max(3, p.Search.Lock.Holders+1), 1, 1, false}}
	switch {
	case p.Refused != nil: // it may have too many states for these
		sizes = append(sizes, size{2, 2, 1, true})
	case p.Search.Bounds.Endless:
		sizes = append(sizes, size{2, 1, 2, false}, size{2, 1, 4, false}, size{2, 1, 8, false})
	}
	return sizes
}

// BrokenBy returns the search that has found a verdict that is not proved impossible, with its witness; nil: none.
func (p *Proof) BrokenBy(word verdict.Word) (*Search, *Witness) {
	if slices.Contains(p.Proved(), word) {
		return nil, nil
	}
	for _, s := range p.Broken {
		for i := range s.Witnesses {
			if s.Witnesses[i].Verdict == word {
				return s, &s.Witnesses[i]
			}
		}
	}
	return nil, nil
}

// Witnesses are those of BrokenBy, in the order of explore.Provable.
func (p *Proof) Witnesses() (all []Witness) {
	for _, word := range explore.Provable {
		if _, w := p.BrokenBy(word); w != nil {
			all = append(all, *w)
		}
	}
	return all
}

// Proved returns the verdicts that are impossible for any number of clients, but for LIE of code that claims nothing,
// and those that are not judged where several may hold the lock.
func (p *Proof) Proved() []verdict.Word {
	if !p.Closed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(explore.Provable), func(w verdict.Word) bool {
		return slices.Contains(p.Harms, w) || p.Search.NoClaims && w == verdict.Lie || Enough(p.Search.Lock, w) == 0
	})
}

// Holding are the keys of those that hold in all views of a proof which they are about.
func (p *Proof) Holding() (keys []string) {
	for _, l := range Lemmas(ViewRows(p)) {
		if l.Of > 0 && l.Against == 0 {
			keys = append(keys, l.Key)
		}
	}
	return keys
}

// Reason is the key of the text why there is no proof; "": there is one. Limits other than of views are "prove.limit".
func (p *Proof) Reason() string {
	why := (*explore.NotProvableError)(nil)
	switch errors.As(p.Refused, &why); {
	case p.Refused == nil:
		return ""
	case strings.HasPrefix(why.Why.Key, "prove."):
		return why.Why.Key
	}
	return "prove.limit"
}
