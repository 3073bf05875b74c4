package play

import (
	"context"
	"slices"

	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// A Truth is whether a harm can be brought about in a game.
type Truth struct {
	Solution
	Known bool // false: the search ended before it knew
}

// Truth holds the known facts of a harm, "" for any: of a level what its file says, and otherwise what a search of the game
// finds, within MaxStates. An error is ctx's.
func (g *Game) Truth(ctx context.Context, harm verdict.Word) (Truth, error) {
	for _, l := range levels {
		if l.Harm == harm && g.isOf(l) {
			return Truth{l.Solution(), true}, nil
		}
	}
	s, err := g.Search(ctx)
	if err != nil {
		return Truth{}, err
	}
	if harm == "" {
		harm = Gravest(s)
	}
	t := Truth{Solution: Solution{States: s.States}}
	t.Par, t.Steps, t.Possible = Par(s, harm)
	t.Known = t.Possible || s.Complete && !slices.Contains(s.Unjudged(), harm)
	return t, nil
}

// isOf reports whether a game is that of a level.
func (g *Game) isOf(l Level) bool {
	if l.Lock != g.Strategy.ID {
		return false
	}
	b := l.Bounds()
	b.Nodes = study.FewServers(g.Strategy)
	return b.Settled(g.Strategy).String() == g.Bounds.String()
}
