package explore

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
)

// Two views of one shared part need not be of one run: each client may have come there on a way of its own. So a world of two may come to
// a harm that no run has: where a key names no client, for example, any two can be inside, since a third one may have given the lock back.
// Then the views are those of two clients: pairs. The set of pairs begins with two clients at rest; any three views of which each two are a pair
// make a world of three; and each two clients of the world that follows are a pair, until nothing is new. All else is as in views.go: two
// clients of which one at most moves are in a world with the one that moves, so that each two of each run, with however many others, are
// a pair. There are always more clients at rest: of one that has come to its end, or of a run of two, nothing is lost.
//
// Pairs are many more than views. So they are made for locks with few views, and where these do not do.

const (
	mostViewsOfPairs = 10_000 // of one client; where there are more, pairs are not begun
	mostPairs        = 100_000
	mostTriples      = 2_000_000 // worlds of three
)

// ProvePairs looks for the harms of a closed proof that ProveFor has made of m in worlds of three clients, and returns the proof with
// those that none comes to as Paired. If pairs are beyond their bounds, that is the proof as it was.
func ProvePairs(ctx context.Context, m *Model, endless bool, of *Proof) (*Proof, error) {
	if of.Views > mostViewsOfPairs {
		return of, nil
	}
	return proveAnd(ctx, m, endless, of.Views, func(p *prover) error { return pairUp(ctx, p) })
}

// pairUp computes the pairs, and takes from the harms of views those that pairs exclude.
func pairUp(ctx context.Context, p *prover) error {
	q, err := newPairer(p)
	if err != nil {
		return err
	}
	ended, err := q.close(ctx)
	if more := (*NotProvableError)(nil); errors.As(err, &more) {
		return nil
	}
	if err != nil || !ended {
		return err
	}
	p.proved.Pairs, p.proved.Triples = len(q.pairs), q.of.proved.Worlds
	p.proved.Paired = (p.found &^ q.of.found).list()
	p.found &= q.of.found
	return nil
}

// A pairer computes the set of pairs.
type pairer struct {
	of        *prover // of views of one client: those of the pairs
	companies map[shared]*company
	pairs     []pair // as they were found
}

// newPairer returns one for the model and the assumptions of a prover.
func newPairer(p *prover) (*pairer, error) {
	of, err := newProver(p.sim, p.search.opt, p.endless, p.most)
	if err != nil {
		return nil, err
	}
	of.size = mostWorld
	return &pairer{of: of, companies: map[shared]*company{}}, nil
}

// A pair is two views, at their places of a group.
type pair struct {
	of   shared
	a, b int
}

// A company is the pairs of one shared part.
type company struct {
	known map[[2]int]bool // the smaller place first
	met   []places        // by view: those with which it is a pair whose worlds were made
	alone map[aloneAt]int // what a choice makes of a view where it changes nothing else
}

// places is a set of places.
type places []uint64

func (s *places) add(at int) {
	for len(*s) <= at/64 {
		*s = append(*s, 0)
	}
	(*s)[at/64] |= 1 << (at % 64)
}

// close computes all pairs. It reports whether there are not too many.
func (q *pairer) close(ctx context.Context) (ended bool, err error) {
	s := atStart(q.of)
	q.enter(s, &q.of.anew, &q.of.anew)
	for i := 0; i < len(q.pairs); i++ {
		if err := q.meet(q.pairs[i]); err != nil {
			return false, err
		}
		report(q.of.search.opt.Progress, len(q.pairs), q.of.proved.Transitions, i)
		if err := cmp.Or(q.of.search.checkSoon(), ctx.Err(), q.of.numbers.full); err != nil {
			return false, err
		}
		if len(q.pairs) > mostPairs || q.of.proved.Worlds > mostTriples {
			return false, nil
		}
	}
	return true, q.of.deadlock()
}

// enter enters two views of a shared part as a pair.
func (q *pairer) enter(s shared, v, w *viewOf) {
	q.enterAt(s, q.of.add(s, *v), q.of.add(s, *w))
}

func (q *pairer) enterAt(s shared, a, b int) {
	c := q.companies[s]
	if c == nil {
		c = &company{known: map[[2]int]bool{}, alone: map[aloneAt]int{}}
		q.companies[s] = c
	}
	if key := [2]int{min(a, b), max(a, b)}; !c.known[key] {
		c.known[key] = true
		q.pairs = append(q.pairs, pair{s, key[0], key[1]})
	}
}

// meet makes the worlds of a pair with each view that is a pair with both.
func (q *pairer) meet(p pair) error {
	c := q.companies[p.of]
	for len(c.met) <= p.b {
		c.met = append(c.met, nil)
	}
	c.met[p.a].add(p.b)
	c.met[p.b].add(p.a)
	for i := range min(len(c.met[p.a]), len(c.met[p.b])) {
		for both := c.met[p.a][i] & c.met[p.b][i]; both != 0; both &= both - 1 {
			if err := q.three(&p.of, c, [mostWorld]int{p.a, p.b, i*64 + bits.TrailingZeros64(both)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// three makes all moves of a world of three.
func (q *pairer) three(s *shared, c *company, at [mostWorld]int) error {
	q.of.proved.Worlds++
	for i := range at {
		first, second, third := at[i], at[(i+1)%mostWorld], at[(i+2)%mostWorld]
		if i > 0 && first == at[0] || i > 1 && first == at[1] {
			continue // its moves are those of its like
		}
		g := q.of.groups[*s]
		views := [mostWorld]viewOf{g.views[first], g.views[second], g.views[third]}
		gone, err := q.of.listWorld(s, &views[0], &views[1], &views[2])
		if err != nil {
			return err
		}
		for k := range q.of.moves {
			m := &q.of.moves[k]
			if m.client > 0 || i > 0 && (m.client < 0 || m.pass > 0) || beginsAgain(q.of.tables, q.of.cur, m) {
				continue
			}
			key := aloneAt{first, m.choice}
			if to, known := c.alone[key]; known {
				q.enterAt(*s, to, second)
				q.enterAt(*s, to, third)
				continue
			}
			made, err := q.of.follow(m, gone)
			if err != nil {
				return err
			}
			q.enterAfter()
			if to := &q.of.after[0]; m.client == 0 && m.pass == 0 && made.seen == 0 && len(q.of.after) == 1 &&
				to.shared == *s && to.acting[0] && to.views[1] == views[1] && to.views[2] == views[2] {
				c.alone[key] = q.of.add(*s, to.views[0])
			}
		}
	}
	return nil
}

// enterAfter enters each two clients of the world that follows.
func (q *pairer) enterAfter() {
	for i := range q.of.after {
		to := &q.of.after[i]
		for a := range q.of.size {
			for b := range a {
				if to.acting[a] && to.acting[b] {
					q.enter(to.shared, &to.views[b], &to.views[a])
				}
			}
		}
	}
}
