package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/explore"
	"locklab/simulator/promela"
)

// An Opinion is a search beside what SPIN says to the same question.
type Opinion struct {
	*Search
	// Plain is the search without symmetry, whose clients forget nothing and in which an ensemble numbers
	// every transaction: SPIN has as many states and transitions.
	Plain *explore.Result
	// Kept is the search whose clients keep all that they have observed; nil: not wanted.
	Kept *explore.Result
	Spin *promela.Result
	// How long the search took, Plain and Kept.
	Took, TookPlain, TookKept time.Duration
}

// SecondOpinion searches, and has SPIN search, within bounds that leave neither timing nor uses open. kept: Kept is
// wanted.
// The error may be a *promela.UnfitError, *promela.ToolError or *promela.IncompleteError. SPIN
// is not asked if Search or Plain is not complete.
func SecondOpinion(ctx context.Context, entry lock.Entry, b Bounds, kept bool) (o *Opinion, err error) {
	if err := promela.Installed(); err != nil {
		return nil, err
	}
	search, err := b.Model(entry)
	if err != nil {
		return nil, err
	}
	if err := promela.Fits(search); err != nil {
		return nil, err
	}
	o = &Opinion{}
	began := time.Now()
	o.Search, err = Explore(ctx, entry, b)
	if err != nil || !o.Complete {
		return o, err
	}
	o.Took = time.Since(began)
	if search, err = o.Bounds.Model(entry); err != nil {
		return nil, err
	}
	o.Plain, o.TookPlain, err = again(ctx, search, explore.Plainest)
	if errors.Is(err, explore.ErrReadsClock) && !b.Idle {
		return SecondOpinion(ctx, entry, b.idle(), kept)
	}
	if err != nil || !o.Plain.Complete {
		return o, err
	}
	if o.Spin, err = promela.Check(ctx, search, entry.ID); err != nil || !kept {
		return o, err
	}
	o.Kept, o.TookKept, err = again(ctx, search, explore.Plain{Rests: true})
	return o, err
}

// again makes a search once more, without some reductions.
func again(ctx context.Context, b *explore.Model, plain explore.Plain) (*explore.Result, time.Duration, error) {
	again, began := *b, time.Now()
	again.Plain = plain
	r, err := explore.Search(ctx, &again)
	return r, time.Since(began), err
}

// Lab and Spins are the verdicts that each has found, with their pars, in one order.
func (o *Opinion) Lab() []string { return slices.Sorted(slices.Values(o.Search.Pars())) }

func (o *Opinion) Spins() (found []string) {
	for _, f := range o.Spin.Found {
		found = append(found, fmt.Sprintf("%s@%d", f.Verdict, f.Par))
	}
	slices.Sort(found)
	return found
}

// Agrees reports whether both have searched everything, and found the same verdicts with the same
// pars in as many states and transitions.
func (o *Opinion) Agrees() bool {
	return o.Complete && o.Plain.Complete && slices.Equal(o.Lab(), o.Spins()) && o.Plain.States == o.Spin.States && o.Plain.Transitions == o.Spin.Transitions
}
