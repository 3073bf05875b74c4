package play

import (
	"context"
	"slices"

	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Step is one choice of a way, with the run before it and the run that it leads to.
type Step struct {
	Choice      simulator.Choice
	Before, Run *history.History
}

// Events are those that the choice adds to the run.
func (s *Step) Events() []history.Event { return s.Run.Events[len(s.Before.Events):] }

// Steps are the choices of a way from the index first on.
func (g *Game) Steps(way []simulator.Choice, first int) (steps []Step, err error) {
	var before *history.History
	for n := first; n <= len(way); n++ {
		run, err := g.game.Replay(way[:n])
		if err != nil {
			return nil, err
		}
		h := *search.OutcomeOf(g.rules, run).History
		h.Events, h.End, h.Open = race.MergeParallel(run.Events), run.End, true
		if before != nil {
			steps = append(steps, Step{way[n-1], before, &h})
		}
		before = &h
	}
	return steps, nil
}

// longer is the number of steps by which a player's way may be longer than a shortest one.
const longer = 3

// Next is the move of a position that begins a way with no more faults than a shortest one, and about as short: its
// place among the moves, the number of choices after it, and that way. A fault goes before all else, and a client that
// has begun before others. -1: there is none.
func (g *Game) Next(ctx context.Context, p *Position, w Way, harm verdict.Word) (n, end int, best Way, err error) {
	n = -1
	choices := p.Trace.Choices
	for i := range 2 * len(p.Moves) {
		faults := i < len(p.Moves)
		i %= len(p.Moves)
		if p.Moves[i].Fault != faults {
			continue
		}
		on, err := g.Forward(ctx, append(slices.Clip(choices), p.Moves[i].Choice), harm)
		way := Way{Choices: on, Faults: simulator.FaultsIn(on)}
		if err == nil {
			had, failed := g.harms(on, harm)
			if err = failed; had == 0 && err == nil {
				way, err = g.Way(ctx, on, harm)
			}
		}
		switch {
		case err != nil:
			return -1, 0, w, err
		case way.Choices == nil || way.Faults > w.Faults || n >= 0 && len(way.Choices) >= len(best.Choices):
			continue
		case len(way.Choices) <= len(w.Choices)+longer:
			return i, len(on), way, nil
		}
		n, end, best = i, len(on), way
	}
	return n, end, best, nil
}
