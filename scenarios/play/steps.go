package play

import (
	"context"
	"slices"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Step is one choice of a way, with those before it, the run before it and the run that it leads to.
type Step struct {
	Choice      simulator.Choice
	Past        []simulator.Choice
	Before, Run *history.History
}

// Events are those that the choice adds to the run.
func (s *Step) Events() []history.Event { return s.Run.Events[len(s.Before.Events):] }

// Steps are the choices of a way from the index first on.
func (g *Game) Steps(way []simulator.Choice, first int) (steps []Step, err error) {
	var before *history.History
	for n := first; n <= len(way); n++ {
		h, err := g.History(way[:n])
		if err != nil {
			return nil, err
		}
		if before != nil {
			steps = append(steps, Step{way[n-1], way[:n-1], before, h})
		}
		before = h
	}
	return steps, nil
}

// History is the run of choices, which may go on.
func (g *Game) History(choices []simulator.Choice) (*history.History, error) {
	run, err := g.game.Replay(choices)
	if err != nil {
		return nil, err
	}
	h := *search.OutcomeOf(g.rules, run).History
	h.Events, h.End, h.Open = race.MergeParallel(run.Events), run.End, true
	return &h, nil
}

// Ahead is a run to which choices lead without a further fault: in which a client moves whenever it can, or, last, only
// while another is inside, or where no other can move and no time pass. Client -1: each gives up as soon as it can.
func (g *Game) Ahead(choices []simulator.Choice, client int, last bool) (*history.History, error) {
	for len(choices) < longest {
		run, err := g.game.Replay(choices)
		if err != nil {
			return nil, err
		}
		moves, err := g.moves(choices, run)
		if err != nil {
			return nil, err
		}
		others := 0 // inside
		for _, e := range run.Events {
			if e.Kind == history.Enter && e.Client != client {
				others++
			} else if e.Kind == history.Leave && e.Client != client {
				others--
			}
		}
		rank := func(c simulator.Choice) int {
			switch of := int(c.Client) == client; {
			case c.Verb == simulator.GiveUp:
				return map[bool]int{true: -1, false: 4}[client < 0]
			case c.Verb == simulator.Pass:
				return 2
			case of != last:
				return 0
			case others > 0 && last:
				return 1
			}
			return 3
		}
		moves = slices.DeleteFunc(moves, func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb })
		if len(moves) == 0 {
			break
		}
		next := slices.MinFunc(moves, func(a, b simulator.Choice) int { return rank(a) - rank(b) })
		choices = append(slices.Clip(choices), next)
	}
	return g.History(choices)
}

// Futures are runs to which a position leads without a further fault, at once and by each of its moves: each of the
// clients goes first, or last, and so does time; and all give up as soon as they can.
func (g *Game) Futures(p *Position) (all []*history.History, err error) {
	starts := [][]simulator.Choice{p.Trace.Choices}
	for _, m := range p.Moves {
		if !m.Fault {
			starts = append(starts, append(slices.Clone(p.Trace.Choices), m.Choice))
		}
	}
	for _, choices := range starts {
		for way := range 2 * (g.Bounds.Clients + 2) {
			h, err := g.Ahead(choices, way/2-1, way%2 == 1)
			if err != nil {
				return nil, err
			}
			all = append(all, h)
		}
	}
	return all, nil
}

// longer is the number of steps by which a player's way may be longer than a shortest one.
const longer = 3

// Next is the move of a position that begins a way with no more faults than a shortest one, and about as short: its
// place among the moves, the number of choices after it, and that way. One that strikes a client inside goes before all
// else, then a fault, and a client that has begun before others. -1: there is none.
func (g *Game) Next(ctx context.Context, p *Position, w Way, harm verdict.Word) (n, end int, best Way, err error) {
	n = -1
	choices, short := p.Trace.Choices, false
	for i := range 2 * len(p.Moves) {
		fault := i < len(p.Moves)
		i %= len(p.Moves)
		if p.Moves[i].Fault != fault {
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
		case way.Choices == nil || way.Faults > w.Faults:
			continue
		case len(way.Choices) <= len(w.Choices)+longer && g.strikesInside(way.Choices[len(choices):], choices, harm):
			return i, len(on), way, nil
		case n < 0 || !short && len(way.Choices) < len(best.Choices):
			n, end, best, short = i, len(on), way, len(way.Choices) <= len(w.Choices)+longer
		}
	}
	return n, end, best, nil
}

// Insiders are the harms for which a client must get in.
var Insiders = []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced}

// strikesInside reports whether what goes on after choices stops a client, or ends its session, only while it is
// inside, if another one is to get in then: whoever is stopped earlier does not come to what is said to help.
func (g *Game) strikesInside(next, choices []simulator.Choice, harm verdict.Word) bool {
	n := slices.IndexFunc(next, func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb })
	verbs := []simulator.Verb{faults.Pause.Verb, faults.ExpireSession.Verb}
	if n < 0 || !slices.Contains(verbs, next[n].Verb) || !slices.Contains(Insiders, harm) {
		return true
	}
	inside := false
	run, err := g.game.Replay(append(slices.Clip(choices), next[:n]...))
	for _, e := range run.Events {
		if e.Client == int(next[n].Client) && (e.Kind == history.Enter || e.Kind == history.Leave) {
			inside = e.Kind == history.Enter
		}
	}
	return inside && err == nil
}
