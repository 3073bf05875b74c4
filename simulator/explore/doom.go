package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// Doom says how much of a run's future is lost after each of its choices.
//
// It looks at everything that can follow if from there on no fault strikes any
// more and, of all that may come next, each is equally likely. So it is a
// measure of the interleavings and not of the world: a message that is late by
// a thousand others counts as much as one that is in time.
type Doom struct {
	Harm verdict.Word
	// Shares has, for the first n choices, the share of what can follow that ends
	// in the harm: 0 to 1, by n from 0 on. It is exact but for the rounding of
	// floating point; it is 1 only if all ends in the harm, and 0 only if nothing
	// does.
	Shares []float64
	// NoReturn is the fewest choices after which everything that can follow ends
	// in the harm; at the latest those with which it has happened.
	NoReturn int
	States   int // that were looked at
}

// ErrNoHarm says that a run does not come to the harm whose doom was asked for.
var ErrNoHarm = errors.New("explore: these choices come to no such harm")

// A TooLargeError says that more can follow than was to be looked at.
type TooLargeError struct{ States int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("not computed: more than %d states", e.States)
}

// DoomOf says for every prefix of choices how much of what can follow ends in
// harm; "": the harm that they come to last. Of opt it reads Head, Probe and
// MaxStates. The errors are ErrNoHarm, a *TooLargeError, a choice that cannot
// happen, ctx's, or about code that the lab cannot carry.
func DoomOf(ctx context.Context, sim *simulator.Simulator, opt Options, choices []simulator.Choice, harm verdict.Word) (*Doom, error) {
	for {
		o := &futures{search: newSearch(sim, Options{Case: opt.Case, Probe: opt.Probe, NoReduction: true}), limit: opt.MaxStates}
		d, err := o.doom(ctx, choices, harm)
		if !errors.Is(err, errNowAbsolute) {
			return d, err
		}
	}
}

// outlook is the graph of all that can follow some states when nothing strikes
// any more. It has no use for symmetry and reduction: both keep what can come
// about, and neither keeps in how many ways.
type futures struct {
	*search
	limit int // of states; 0: none
	graph graph
}

func (o *futures) doom(ctx context.Context, choices []simulator.Choice, harm verdict.Word) (*Doom, error) {
	prefixes, found, err := o.walk(choices)
	if err != nil {
		return nil, err
	}
	harms := wordSet(0)
	harms.add(harm)
	if harm == "" {
		harm, harms = last(found)
	}
	at := 0 // choices after which the harm has happened
	for at = range found {
		if found[at]&harms != 0 {
			break
		}
	}
	if len(found) == 0 || found[at]&harms == 0 {
		return nil, ErrNoHarm
	}
	if err := o.expandAll(ctx, harms); err != nil {
		return nil, err
	}
	shares, sure := o.graph.shares(), o.graph.sure()
	d := &Doom{Harm: harm, States: o.visited.states.n}
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

// last is the harm that was found last, the gravest of several.
func last(found []wordSet) (verdict.Word, wordSet) {
	for n := len(found) - 1; n >= 0; n-- {
		for i, w := range order {
			if found[n]&(1<<i) != 0 {
				return w, 1 << i
			}
		}
	}
	return "", 0
}

// walk makes the choices one after the other. It numbers the states before the
// first and after each, and says what the judges found at each choice.
func (o *futures) walk(choices []simulator.Choice) (states []uint32, found []wordSet, err error) {
	absolute := o.sim.ReadsClock()
	w, judges := o.sim.NewWorld(), o.judges(verdict.Safety{})
	o.takeState(&w, judges, o.cur)
	for n := 0; ; n++ {
		id, _ := o.visited.states.add(o.cur, 0, 0, 0)
		states = append(states, id)
		if n == len(choices) {
			return states, found, nil
		}
		if err := o.arcsOf(id); err != nil {
			return nil, nil, err
		}
		via := choices[n] // as states have it
		if via.Verb == simulator.Orphaned {
			place, err := o.sim.PlaceInPart(&w, int(via.Thread))
			if err != nil {
				return nil, nil, fmt.Errorf("explore: choice %d of %d: %w", n+1, len(choices), err)
			}
			via.Thread = int8(place)
		}
		words := wordSet(0) // what no judge hears, such as rounds that nobody wins
		for _, a := range o.out.arcs {
			if a.via == o.choice(via) {
				words |= a.found
			}
		}
		if judges = o.cur[o.judgeAt()]; choices[n].Verb == simulator.Pass {
			judges = o.passJudges(judges, choices[n].D)
		}
		events, err := o.sim.Step(&w, choices[n])
		if err != nil {
			return nil, nil, fmt.Errorf("explore: choice %d of %d: %w", n+1, len(choices), err)
		}
		if o.sim.ReadsClock() != absolute {
			return nil, nil, errNowAbsolute
		}
		kept := o.recordEvents(w.Now(), events)
		o.takeState(&w, judges, o.cur)
		found = append(found, words|o.judgeEvents(o.cur, kept))
	}
}

// unfold works out all that can follow the states that there are.
func (o *futures) expandAll(ctx context.Context, harms wordSet) error {
	absolute, states := o.sim.ReadsClock(), o.visited.states
	for id := 0; id < states.n; id++ {
		if o.limit > 0 && states.n > o.limit {
			return &TooLargeError{o.limit}
		}
		if err := o.loadState(uint32(id)); err != nil {
			return err
		}
		if err := o.arcsOf(uint32(id)); err != nil {
			return err
		}
		if o.sim.ReadsClock() != absolute {
			return errNowAbsolute
		}
		o.graph.begin()
		for i := range o.out.arcs {
			if o.out.arcs[i].found&harms != 0 {
				o.graph.arc(lost) // whatever comes after that
				continue
			}
			to, _ := states.add(o.out.words[i*o.out.width:(i+1)*o.out.width], 0, 0, 0)
			o.graph.arc(to)
		}
		if id&(1<<10-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// follow puts the steps from state id, whose words are in cur, into out.
func (o *futures) arcsOf(id uint32) error {
	o.out = cmp.Or(o.out, &batch{width: o.stride()})
	o.out.clear()
	rest := o.restTab.entries[o.cur[o.restAt()]]
	rest.mayFault = false        // nothing strikes any more
	o.visited.spent = rest.spent // but something may have struck
	err := o.expand(id)
	return errors.Join(err, o.numbers.full)
}

// graph is the steps between states: those of state n stand from first[n] on.
// Two steps to the same state are two.
type graph struct {
	first []int
	to    []uint32
}

// lost in place of a state: the harm has happened.
const lost = ^uint32(0)

// begin begins the steps of the next state.
func (g *graph) begin() { g.first = append(g.first, len(g.to)) }

func (g *graph) arc(to uint32) { g.to = append(g.to, to) }

func (g *graph) arcs(id uint32) []uint32 {
	if int(id)+1 < len(g.first) {
		return g.to[g.first[id]:g.first[id+1]]
	}
	return g.to[g.first[id]:]
}

// settle brings values that depend on those of the states that follow to where
// they change no more. Clients come to an end, so hardly a state follows itself:
// with what follows looked at first, one round does it, and one more says so.
func (g *graph) iterate(update func(id uint32, arcs []uint32) (changed bool)) {
	order := g.backwards()
	for changed := true; changed; {
		changed = false
		for _, id := range order {
			changed = update(id, g.arcs(id)) || changed
		}
	}
}

// backwards lists the states, each after all that follow it, as far as they do
// not go round in circles.
func (g *graph) backwards() (order []uint32) {
	seen, next := make([]bool, len(g.first)), make([]int, len(g.first))
	var path []uint32
	enter := func(id uint32) {
		if id != lost && !seen[id] {
			seen[id] = true
			path = append(path, id)
		}
	}
	for id := range g.first {
		for enter(uint32(id)); len(path) > 0; {
			top := path[len(path)-1]
			if arcs := g.arcs(top); next[top] < len(arcs) {
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

// shares are the probabilities of the harm, by state, if each step is equally
// likely. In circles they come from below and grow until they change no more.
func (g *graph) shares() []float64 {
	share := make([]float64, len(g.first))
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

// sure says for each state whether the harm cannot be escaped any more: nothing
// that can follow is a state from which it is out of reach. That is a question
// of steps and not of numbers, which could round to 1.
func (g *graph) sure() []bool {
	inReach := g.spread(func(_ uint32, arcs []uint32) bool { return slices.Contains(arcs, lost) })
	sure := g.spread(func(id uint32, _ []uint32) bool { return !inReach[id] })
	for id := range sure {
		sure[id] = !sure[id]
	}
	return sure
}

// spread marks the states that some state with a mark of its own can follow.
func (g *graph) spread(own func(id uint32, arcs []uint32) bool) []bool {
	marked := make([]bool, len(g.first))
	g.iterate(func(id uint32, arcs []uint32) bool {
		if marked[id] {
			return false
		}
		marked[id] = own(id, arcs) || slices.ContainsFunc(arcs, func(to uint32) bool { return to != lost && marked[to] })
		return marked[id]
	})
	return marked
}
