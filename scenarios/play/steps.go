package play

import (
	"slices"

	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
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

// Sooner is a way as good as another that begins with a move which the other makes only later, so that what matters is
// done first; the other way, if there is none.
func (g *Game) Sooner(w Way, choices []simulator.Choice, first simulator.Choice, find func([]simulator.Choice) (Way, error)) (Way, error) {
	moves, err := g.game.Moves(choices)
	if err != nil || !slices.Contains(moves, first) {
		return w, err
	}
	other, err := find(append(slices.Clip(choices), first))
	if err != nil || len(other.Choices) != len(w.Choices) || other.Faults != w.Faults {
		return w, err
	}
	return other, nil
}
