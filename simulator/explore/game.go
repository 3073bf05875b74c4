package explore

import (
	"context"
	"errors"
	"math"
	"slices"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Game is the states of a search, visited one at a time, as a player chooses.
// Every way through it is a run that the search covers, and the other way round. It is
// used by one goroutine at a time. Close it.
type Game struct {
	model *Model
	sim   *simulator.Simulator
}

// NewGame makes the game of m. The errors are those of [Model.Simulator].
func NewGame(m *Model) (*Game, error) {
	sim, err := m.Simulator()
	if err != nil {
		return nil, err
	}
	return &Game{m, sim}, nil
}

// Close frees the simulator.
func (g *Game) Close() { g.sim.Close() }

// Run makes choices. The error says which of them is not possible; the run then ends
// before it.
func (g *Game) Run(choices []simulator.Choice) (*schedule.Run, error) {
	return schedule.Replay(g.sim, choices)
}

// Moves returns the moves that a search tries after choices: what can happen at once, by client and then
// by server, then the faults, and last the passing of time.
func (g *Game) Moves(choices []simulator.Choice) (moves []simulator.Choice, err error) {
	err = g.after(choices, func(f *futures, w *simulator.World) error {
		f.successors.faultless = false
		if err := f.successors.listMoves(); err != nil {
			return err
		}
		var same simulator.Names
		for c := range same {
			same[c] = uint8(c)
		}
		for _, m := range f.successors.moves {
			c := f.choices[m.choice]
			if c.Verb == simulator.Orphaned { // a state and a world keep orphans in different orders
				place, err := f.sim.Parts().PlaceInWorld(w, &f.restTab.keys[f.successors.cur[f.restAt]], int(c.Thread), &same)
				if err != nil {
					return err
				}
				c.Thread = int8(place)
			}
			if !slices.Contains(moves, c) {
				moves = append(moves, c)
			}
		}
		return nil
	})
	return moves, err
}

// Way is a shortest way to a harm that begins with choices: it has the fewest further
// faults, and then the fewest steps. nil: the harm cannot follow within the bounds. With
// more than most states to visit the error is a *TooLargeError. Otherwise it is ctx's, or
// about code that the simulator cannot run.
func (g *Game) Way(ctx context.Context, choices []simulator.Choice, harm verdict.Word, most int) (way []simulator.Choice, err error) {
	err = g.after(choices, func(f *futures, w *simulator.World) error {
		s := f.search
		s.successors.faultless = false
		s.opt.MaxStates = most
		s.visited = newVisited(s.stride(), &s.opt)
		s.visited.wanted = []Witness{{Verdict: harm, Par: math.MaxInt}} // by any number of faults
		s.visited.begin(s.successors.cur)
		if err := s.run(ctx, nil); err != nil {
			return err
		}
		d := s.visited.found[finding{harm, 0}]
		switch {
		case d == nil && s.visited.done:
			return nil
		case d == nil:
			return &TooLargeError{most}
		}
		s.start = *w
		rest, err := s.path(d)
		way = append(slices.Clone(choices), rest...)
		return err
	})
	return way, err
}

// Share is the share of what can follow choices that ends in a harm, if no fault is
// injected any more and every next step is equally likely; see [Doom]. It is 1 if the harm
// has happened. The errors are those of Way.
func (g *Game) Share(ctx context.Context, choices []simulator.Choice, harm verdict.Word, most int) (share float64, err error) {
	err = g.after(choices, func(f *futures, _ *simulator.World) error {
		harms := wordSet(0)
		harms.add(harm)
		f.limit = most
		f.visited.states = newStore(f.stride())
		f.visited.states.add(f.successors.cur, 0, 0, 0)
		if err := f.expandAll(ctx, harms); err != nil {
			return err
		}
		share = f.graph.shares()[0]
		if f.graph.sure()[0] {
			share = 1
		}
		return nil
	})
	return share, err
}

// after makes choices, and calls do with the state that they lead to in cur and its world.
func (g *Game) after(choices []simulator.Choice, do func(f *futures, w *simulator.World) error) error {
	for {
		opt := g.model.Options()
		f := newFutures(g.sim, &opt)
		err := f.goTo(choices, do)
		if !errors.Is(err, errNewTrait) {
			return err
		}
	}
}

func (f *futures) goTo(choices []simulator.Choice, do func(f *futures, w *simulator.World) error) error {
	absolute := f.sim.ReadsClock()
	w := f.sim.NewWorld()
	judges := f.judgeTab.id(verdict.Safety{})
	for n, c := range choices {
		if c.Verb == simulator.Pass {
			judges = f.search.transitions.passJudges(judges, c.D)
		}
		events, err := f.sim.Step(&w, c)
		if err != nil {
			return i18n.Errorf("error.choice", "n", n+1, "all", len(choices), "cause", err)
		}
		if f.sim.ReadsClock() != absolute {
			return errNewTrait
		}
		kept := f.recordEvents(w.Now(), events)
		f.takeState(&w, judges, f.successors.cur)
		f.search.transitions.judgeEvents(f.successors.cur, kept)
		judges = f.successors.cur[f.judgeAt]
	}
	f.takeState(&w, judges, f.successors.cur)
	return do(f, &w)
}

// Describe is a choice in the engine's words.
func (g *Game) Describe(c simulator.Choice) string { return g.sim.Describe(c) }
