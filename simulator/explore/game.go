package explore

import (
	"context"
	"math"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Game is the states of a search, visited one at a time, as a player chooses. Every way through it is a run that the
// search covers, and the other way round. It is used by one goroutine at a time. Close it.
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

// Replay makes choices. The error says which of them is not possible; the run then ends before it.
func (g *Game) Replay(choices []simulator.Choice) (*schedule.Run, error) {
	return schedule.Replay(g.sim, choices)
}

// Moves returns the moves that a search tries after choices: what can happen at once, by client and then
// by server, then the faults, and last the passing of time.
func (g *Game) Moves(choices []simulator.Choice) (moves []simulator.Choice, err error) {
	err = g.after(choices, func(f *futures, w *simulator.World) error {
		f.search.successors.faultless = false
		if err := f.search.successors.listMoves(); err != nil {
			return err
		}
		same := history.Same()
		for _, m := range f.search.successors.moves {
			c := f.search.choices[m.choice]
			if c.Verb == simulator.Orphaned { // a state and a world keep orphans in different orders
				rest := &f.search.restTab.Keys[f.search.successors.cur[f.search.restAt]]
				place, err := f.search.sim.Parts().PlaceInWorld(w, rest, int(c.Thread), &same)
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

// Way is a shortest way to a harm that begins with choices: it has the fewest further faults, and then the fewest
// steps. nil: the harm cannot follow within the bounds. With more than most states to visit the error is a
// *TooLargeError. Otherwise it is ctx's, or about code that the simulator cannot run.
func (g *Game) Way(
	ctx context.Context, choices []simulator.Choice, harm verdict.Word, most int,
) (way []simulator.Choice, err error) {
	err = g.after(choices, func(f *futures, w *simulator.World) error {
		f.search.successors.faultless, f.search.opt.MaxStates, f.search.start = false, most, *w
		f.search.visited.wanted = []Witness{{Verdict: harm, Par: math.MaxInt}} // by any number of faults
		f.search.visited.begin(f.search.successors.cur)
		if err := f.search.run(ctx); err != nil {
			return err
		}
		d := f.search.visited.found[finding{harm, 0}]
		switch {
		case d == nil && f.search.visited.done:
			return nil
		case d == nil:
			return &TooLargeError{most}
		}
		rest, err := f.search.path(d)
		way = append(slices.Clone(choices), rest...)
		return err
	})
	return way, err
}

// after makes choices, and calls do with the state that they lead to in cur and its world.
func (g *Game) after(choices []simulator.Choice, do func(f *futures, w *simulator.World) error) error {
	return withFutures(g.sim, g.model.Options(), func(f *futures) error {
		_, err := f.walk(choices, func(n int, w *simulator.World) error {
			if n < len(choices) {
				return nil
			}
			return do(f, w)
		})
		return err
	})
}

// Describe is a choice in the engine's words.
func (g *Game) Describe(c simulator.Choice) string { return g.sim.Describe(c) }
