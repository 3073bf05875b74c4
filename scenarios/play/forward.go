package play

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// Forward makes the moves after choices that are no choice: the only one possible, unless it is a fault; one that no
// client notices; and what the last of choices has begun, see goesOn. It stops where harm just happened; "": any harm.
func (g *Game) Forward(ctx context.Context, choices []simulator.Choice, harm verdict.Word) ([]simulator.Choice, error) {
	click := len(choices) - 1
	had, err := g.harms(choices[:max(click, 0)], harm)
	for err == nil && len(choices) < longest {
		has, err := g.harms(choices, harm)
		if err != nil || has > had {
			return choices, err
		}
		next, forced, err := g.forced(choices, click)
		if err != nil || !forced {
			return choices, err
		}
		choices, had = append(slices.Clip(choices), next), has
	}
	return choices, err
}

// longest is the number of choices after which a game does not go on by itself: none of the levels is as long.
const longest = 400

// Turns are the numbers of choices after which a player chose, as far as choices were played by choosing, and all.
func (g *Game) Turns(ctx context.Context, choices []simulator.Choice, harm verdict.Word) (all []int, err error) {
	at, err := g.Forward(ctx, nil, harm)
	for err == nil && len(at) < len(choices) && slices.Equal(at, choices[:len(at)]) {
		all = append(all, len(at))
		at, err = g.Forward(ctx, append(slices.Clip(at), choices[len(at)]), harm)
	}
	return append(all, len(choices)), err
}

// Back is the position before the last move that was chosen, or the first one.
func (g *Game) Back(ctx context.Context, choices []simulator.Choice, harm verdict.Word) ([]simulator.Choice, error) {
	all, err := g.Turns(ctx, choices, harm)
	return choices[:all[max(len(all)-2, 0)]], err
}

// Decisive is the last turn of a player, from 1, with the number of choices before it, from which a way to a harm led
// on with as few faults as from the start. If none ever did it is the turn of the last fault.
func (g *Game) Decisive(ctx context.Context, made []simulator.Choice, harm verdict.Word) (turn, n int, err error) {
	all, err := g.Turns(ctx, made, harm)
	best, failed := g.Way(ctx, nil, harm)
	for i := len(all) - 2; i > 0 && cmp.Or(err, failed) == nil; i-- {
		if best.Choices == nil {
			if made[all[i]].Verb >= simulator.FaultVerb {
				return i + 1, all[i], nil
			}
			continue
		}
		var w Way
		if w, failed = g.Way(ctx, made[:all[i]], harm); w.Choices != nil && w.Faults <= best.Faults {
			return i + 1, all[i], failed
		}
	}
	return 1, all[0], cmp.Or(err, failed)
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

// forced is the move after choices that is made without being chosen; false: there is none. click is the place of the
// last choice that was; -1: there was none.
func (g *Game) forced(choices []simulator.Choice, click int) (next simulator.Choice, on bool, err error) {
	before, err := g.game.Replay(choices)
	if err != nil {
		return next, false, err
	}
	moves, err := g.moves(choices, before)
	switch {
	case err != nil || len(moves) == 0:
		return next, false, err
	case len(moves) == 1:
		return moves[0], moves[0].Verb < simulator.FaultVerb, nil
	}
	for _, c := range moves {
		if c.Verb == simulator.Orphaned {
			if events, err := g.events(choices, c, before); err != nil || unnoticed(events) {
				return c, err == nil, err
			}
		}
	}
	if click < 0 {
		return next, false, nil
	}
	return g.goesOn(choices, click, moves, before)
}

// events are those that a choice adds to a run.
func (g *Game) events(choices []simulator.Choice, c simulator.Choice, before *schedule.Run) ([]history.Event, error) {
	run, err := g.game.Replay(append(slices.Clip(choices), c))
	if err != nil {
		return nil, err
	}
	return run.Events[len(before.Events):], nil
}

// goesOn is the move that goes on with what the choice at click began: a client asks, its request arrives and is
// answered, or time passes until a client acts. That ends with what changes the game, before a message that a fault can
// strike, and between two commands of a client that can crash. What a client then only receives or reads belongs to it.
func (g *Game) goesOn(
	choices []simulator.Choice, click int, moves []simulator.Choice, run *schedule.Run,
) (next simulator.Choice, on bool, err error) {
	began, mayFault, mayCrash := choices[click], false, false
	passes, stamps := began.Verb == simulator.Pass, g.Lock.Expiry == lock.ExpiryClients
	if began.Verb >= simulator.FaultVerb || began.Verb == simulator.Orphaned || !passes && began.Client == 0 ||
		passes && stamps {
		return next, false, nil
	}
	for _, c := range moves {
		switch {
		case strikesMessage[c.Verb] || stamps && c == faults.PauseUnsentOf(int(c.Client)):
			return next, false, nil
		case c.Verb >= simulator.FaultVerb:
			mayFault, mayCrash = true, mayCrash || c.Verb == faults.Crash.Verb
		case c.Verb == simulator.Resume || c.Verb == simulator.Orphaned || !passes && c.Client != began.Client:
		case on:
			return next, false, nil // there is a choice
		default:
			next, on = c, true
		}
	}
	before, err := g.game.Replay(choices[:click])
	if !on || err != nil {
		return next, false, err
	}
	executing := mayFault || stamps || g.Bounds.Nodes > 1 // the order of commands of several clients matters
	changed := changes(run.Events[len(before.Events):], executing)
	between := mayCrash && choices[len(choices)-1].Verb == simulator.Answer // two commands
	if !changed && !between {
		return next, true, nil
	}
	events, err := g.events(choices, next, run)
	sends := slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Send })
	return next, err == nil && !(changed && sends) && !changes(events, executing), err
}

// strikesMessage are the faults of messages, by their verbs.
var strikesMessage = map[simulator.Verb]bool{
	faults.LoseReply.Verb: true, faults.LoseRequest.Verb: true, faults.Delay.Verb: true, faults.Return.Verb: true,
	faults.FailCall.Verb: true,
}

// changes reports whether events change the game: an entry, a write, a lease's end or, if executing, a command's run.
func changes(events []history.Event, executing bool) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.Enter || e.Kind == history.Write || e.Kind == history.Expire ||
			executing && e.Kind == history.Apply
	})
}

// unnoticed reports whether no client can notice the arrival of a request whose sender has ended its wait: it can only
// read, now and at any later time.
func unnoticed(events []history.Event) bool {
	for _, e := range events {
		reads := e.Kind == history.Apply && len(e.Cmd) > 0 && reading[strings.ToUpper(e.Cmd[0])]
		if e.Kind != history.Read && !reads {
			return false
		}
	}
	return true
}

// reading are the commands that change nothing, whatever the key holds.
var reading = map[string]bool{"GET": true, "TTL": true, "PTTL": true, "EXISTS": true, "GETCHILDREN": true}
