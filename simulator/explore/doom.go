package explore

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// Doom is the share of a run's future that is lost after each of its choices.
//
// It considers everything that can follow if from there on no fault is injected and each possible next step is equally
// likely. So it is a measure of interleavings and not of the real world: a message that a thousand others overtake
// counts as much as one that arrives at once.
type Doom struct {
	Harm verdict.Word
	// Shares[n] is the share of what can follow the first n choices that ends in the harm, 0 to 1. It is exact up to
	// rounding; it is 1 only if everything ends in the harm, and 0 only if nothing does.
	Shares []float64
	// NoReturn is the least number of choices after which everything that can follow
	// ends in the harm; at the latest that with which it has happened.
	NoReturn int
	States   int // of the graph of what can follow
}

// ErrNoHarm is a run that does not come to the given harm.
var ErrNoHarm = errors.New("explore: these choices come to no such harm")

// A TooLargeError is a run after which more states can follow than MaxStates.
type TooLargeError struct{ States int }

func (e *TooLargeError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *TooLargeError) Message() i18n.Message { return i18n.New("error.doom.large", "most", e.States) }

// DoomOf computes for every prefix of choices how much of what can follow ends in harm; "": the harm to which they come
// last. Of opt it reads Case, Probe and MaxStates. The errors are ErrNoHarm, a *TooLargeError, a choice that is not
// possible, ctx's, or about code that the simulator cannot run.
func DoomOf(
	ctx context.Context, sim *simulator.Simulator, opt Options, choices []simulator.Choice, harm verdict.Word,
) (d *Doom, err error) {
	err = withFutures(sim, opt, func(f *futures) (err error) {
		f.limit = opt.MaxStates
		d, err = f.doom(ctx, choices, harm)
		return err
	})
	return d, err
}

// futures is the graph of all that can follow some states without further faults. It
// does not use symmetry, which keeps what can happen, but not in how many ways.
type futures struct {
	search *search
	limit  int // of states; 0: none
	graph  graph
}

// withFutures calls do with the graph of an empty set of states, and again if the code shows a new trait.
func withFutures(sim *simulator.Simulator, opt Options, do func(f *futures) error) error {
	for {
		s := newSearch(sim, Options{Case: opt.Case, Probe: opt.Probe, Step: opt.Step})
		s.successors.faultless = true
		if err := do(&futures{search: s}); !errors.Is(err, errNewTrait) {
			return err
		}
	}
}

func (f *futures) doom(ctx context.Context, choices []simulator.Choice, harm verdict.Word) (*Doom, error) {
	prefixes, found, err := f.prefixes(choices)
	if err != nil {
		return nil, err
	}
	harms := verdict.SetOf(harm)
	if harm == "" {
		harm, harms = last(found)
	}
	// at is the number of choices before that with which it happens.
	at := slices.IndexFunc(found, func(words verdict.Set) bool { return words&harms != 0 })
	if at < 0 {
		return nil, ErrNoHarm
	}
	if err := f.expandAll(ctx, harms); err != nil {
		return nil, err
	}
	shares, sure := f.graph.shares(), f.graph.sure()
	d := &Doom{Harm: harm, States: f.search.visited.states.n}
	for n, id := range prefixes {
		share := shares[id]
		switch {
		case n > at || sure[id]:
			share = 1
		case share >= 1: // by rounding
			share = math.Nextafter(1, 0)
		}
		d.Shares = append(d.Shares, share)
	}
	d.NoReturn = slices.Index(d.Shares, 1)
	return d, nil
}

// last is the harm that was found last, of several the first in order.
func last(found []verdict.Set) (verdict.Word, verdict.Set) {
	for n := len(found) - 1; n >= 0; n-- {
		if found[n] != 0 {
			first := found[n].Words()[0]
			return first, verdict.SetOf(first)
		}
	}
	return "", 0
}

// prefixes numbers the states before the first choice and after each, and returns what is found at each choice.
func (f *futures) prefixes(choices []simulator.Choice) (states []uint32, found []verdict.Set, err error) {
	var alone []verdict.Set // what the search finds without the judges, such as STARVED
	found, err = f.walk(choices, func(n int, w *simulator.World) error {
		id, _ := f.search.visited.states.add(f.search.successors.cur, 0, 0, 0)
		states = append(states, id)
		if n == len(choices) {
			return nil
		}
		if err := f.arcsOf(id); err != nil {
			return err
		}
		via := choices[n] // as states have it
		if via.Verb == simulator.Orphaned {
			place, err := f.search.sim.Parts().PlaceInPart(w, int(via.Thread))
			if err != nil {
				return i18n.Errorf("error.choice", "n", n+1, "all", len(choices), "cause", err)
			}
			via.Thread = int8(place)
		}
		words := verdict.Set(0)
		for _, a := range f.search.successors.out.arcs {
			if a.via == f.search.choice(via) {
				words |= a.found
			}
		}
		alone = append(alone, words)
		return nil
	})
	for n := range found {
		found[n] |= alone[n]
	}
	return states, found, err
}

// walk makes the choices one after the other, and calls at before each of them and after the last,
// with the state in cur. It returns what the judges find at each choice.
func (f *futures) walk(
	choices []simulator.Choice, at func(n int, w *simulator.World) error,
) (found []verdict.Set, err error) {
	before := f.search.sim.Traits().OfTime()
	w := f.search.sim.NewWorld()
	f.search.takeState(&w, f.search.judgeTab.ID(verdict.Safety{}), f.search.successors.cur)
	for n, c := range choices {
		if err := at(n, &w); err != nil {
			return nil, err
		}
		words, err := f.search.step(&w, c, f.search.successors.cur)
		if err != nil {
			return nil, i18n.Errorf("error.choice", "n", n+1, "all", len(choices), "cause", err)
		}
		if f.search.sim.Traits().OfTime() != before {
			return nil, errNewTrait
		}
		found = append(found, words)
	}
	return found, at(len(choices), &w)
}

// expandAll computes all that can follow the present states.
func (f *futures) expandAll(ctx context.Context, harms verdict.Set) error {
	before, states := f.search.sim.Traits().OfTime(), f.search.visited.states
	for id := 0; id < states.n; id++ {
		if f.limit > 0 && states.n > f.limit {
			return &TooLargeError{f.limit}
		}
		if err := f.search.loadState(uint32(id)); err != nil {
			return err
		}
		if err := f.arcsOf(uint32(id)); err != nil {
			return err
		}
		if f.search.sim.Traits().OfTime() != before {
			return errNewTrait
		}
		out := f.search.successors.out
		follow := make([]uint32, len(out.arcs))
		for i := range out.arcs {
			if follow[i] = lost; out.arcs[i].found&harms == 0 { // otherwise: whatever comes after that
				follow[i], _ = states.add(out.wordsOf(i), 0, 0, 0)
			}
		}
		f.graph = append(f.graph, follow)
		if id&(1<<10-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// arcsOf puts the steps from state id, whose words are in cur, into out.
func (f *futures) arcsOf(id uint32) error {
	f.search.successors.out = cmp.Or(f.search.successors.out, &batch{width: f.search.stride()})
	f.search.successors.out.clear()
	return errors.Join(f.search.successors.expand(id), f.search.numbers.Exceeded)
}

// graph is the steps between states: the states that follow each. Two steps to the same state count as two.
type graph [][]uint32

// lost stands for a state in which the harm has happened.
const lost = ^uint32(0)

// iterate updates values that depend on those of the states that follow until none changes. Clients end, so there are
// hardly any circles: if each state comes after those that follow it one round suffices, and one more confirms it.
func (g graph) iterate(update func(id uint32, arcs []uint32) (changed bool)) {
	order := g.backwards()
	for changed := true; changed; {
		changed = false
		for _, id := range order {
			changed = update(id, g[id]) || changed
		}
	}
}

// backwards lists the states, each after all that follow it, as far as there are no circles.
func (g graph) backwards() (order []uint32) {
	seen, next := make([]bool, len(g)), make([]int, len(g))
	var path []uint32
	enter := func(id uint32) {
		if id != lost && !seen[id] {
			seen[id] = true
			path = append(path, id)
		}
	}
	for id := range g {
		for enter(uint32(id)); len(path) > 0; {
			top := path[len(path)-1]
			if arcs := g[top]; next[top] < len(arcs) {
				next[top]++
				enter(arcs[next[top]-1])
				continue
			}
			order = append(order, top)
			path = path[:len(path)-1]
		}
	}
	return order
}

// shares are the probabilities of the harm, by state, if each step is equally likely.
// In circles they grow from 0 until they do not change any more.
func (g graph) shares() []float64 {
	share := make([]float64, len(g))
	g.iterate(func(id uint32, arcs []uint32) bool {
		sum := 0.0
		for _, to := range arcs {
			if to == lost {
				sum++
			} else {
				sum += share[to]
			}
		}
		was := share[id]
		if len(arcs) > 0 {
			share[id] = max(was, sum/float64(len(arcs)))
		}
		return share[id] != was
	})
	return share
}

// sure says for each state whether the harm is certain: no state can follow from which
// it is out of reach. It goes by steps, because a share could be rounded to 1.
func (g graph) sure() []bool {
	inReach := g.spread(func(_ uint32, arcs []uint32) bool { return slices.Contains(arcs, lost) })
	sure := g.spread(func(id uint32, _ []uint32) bool { return !inReach[id] })
	for id := range sure {
		sure[id] = !sure[id]
	}
	return sure
}

// spread marks the states for which own is true or that such a state can follow.
func (g graph) spread(own func(id uint32, arcs []uint32) bool) []bool {
	marked := make([]bool, len(g))
	leads := func(to uint32) bool { return to != lost && marked[to] }
	g.iterate(func(id uint32, arcs []uint32) bool {
		if marked[id] {
			return false
		}
		marked[id] = own(id, arcs) || slices.ContainsFunc(arcs, leads)
		return marked[id]
	})
	return marked
}
