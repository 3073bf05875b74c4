package play

import (
	"slices"
	"strings"

	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Forward makes the moves after choices that are no choice: the only one that is possible, unless it is a fault, and
// one that no client can notice. It stops where harm has just happened; "": any harm.
func (g *Game) Forward(choices []simulator.Choice, harm verdict.Word) ([]simulator.Choice, error) {
	had := 0
	if n := len(choices); n > 0 {
		var err error
		if had, err = g.harms(choices[:n-1], harm); err != nil {
			return nil, err
		}
	}
	for len(choices) < longest {
		has, err := g.harms(choices, harm)
		if err != nil || has > had {
			return choices, err
		}
		next, forced, err := g.forced(choices)
		if err != nil || !forced {
			return choices, err
		}
		choices, had = append(slices.Clip(choices), next), has
	}
	return choices, nil
}

// Back is the last position before the end of choices in which there was a choice; without one, the first that Forward
// leads to.
func (g *Game) Back(choices []simulator.Choice, harm verdict.Word) ([]simulator.Choice, error) {
	for n := len(choices) - 1; n >= 0; n-- {
		if _, forced, err := g.forced(choices[:n]); err != nil || !forced {
			return choices[:n], err
		}
	}
	return g.Forward(nil, harm)
}

// harms counts the harms that choices have come to, of those that are asked for.
func (g *Game) harms(choices []simulator.Choice, harm verdict.Word) (n int, err error) {
	run, err := g.game.Replay(choices)
	if err != nil {
		return 0, err
	}
	for _, w := range search.OutcomeOf(g.rules, run).Verdicts {
		if w == harm || harm == "" && w != verdict.Holds {
			n++
		}
	}
	return n, nil
}

// forced is the move after choices that is made without being chosen; false: there is none.
func (g *Game) forced(choices []simulator.Choice) (simulator.Choice, bool, error) {
	before, err := g.game.Replay(choices)
	if err != nil {
		return simulator.Choice{}, false, err
	}
	moves, err := g.moves(choices, before)
	if err != nil || len(moves) == 0 {
		return simulator.Choice{}, false, err
	}
	if len(moves) == 1 {
		return moves[0], moves[0].Verb < simulator.FaultVerb, nil
	}
	for _, c := range moves {
		if c.Verb != simulator.Orphaned {
			continue
		}
		run, err := g.game.Replay(append(slices.Clip(choices), c))
		if err != nil {
			return c, false, err
		}
		if unnoticed(run.Events[len(before.Events):]) {
			return c, true, nil
		}
	}
	return simulator.Choice{}, false, nil
}

// unnoticed reports whether no client can notice the arrival of a request whose sender has ended its wait: it can only
// read, now and at any later time.
func unnoticed(events []history.Event) bool {
	for _, e := range events {
		if e.Kind != history.Read && (e.Kind != history.Apply || len(e.Cmd) == 0 || !reading[strings.ToUpper(e.Cmd[0])]) {
			return false
		}
	}
	return true
}

// reading are the commands that change nothing, whatever the key holds.
var reading = map[string]bool{"GET": true, "TTL": true, "PTTL": true, "EXISTS": true, "GETCHILDREN": true}
