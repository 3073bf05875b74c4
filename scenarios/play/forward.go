package play

import (
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

// Forward makes the moves after choices that are no choice: the only one that is possible, unless it is a fault; one that
// no client can notice; and what the last of choices has begun, see goesOn. It stops where harm has just happened; "":
// any harm.
func (g *Game) Forward(choices []simulator.Choice, harm verdict.Word) ([]simulator.Choice, error) {
	had, click := 0, len(choices)-1
	if click >= 0 {
		var err error
		if had, err = g.harms(choices[:click], harm); err != nil {
			return nil, err
		}
	}
	for len(choices) < longest {
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
	return choices, nil
}

// Back is the position before the last move that was chosen. A way that was not played by choosing is taken back to the
// last position in which several moves were possible.
func (g *Game) Back(choices []simulator.Choice, harm verdict.Word) ([]simulator.Choice, error) {
	at, err := g.Forward(nil, harm)
	for before := at; err == nil && len(at) <= len(choices) && slices.Equal(at, choices[:len(at)]); {
		if len(at) == len(choices) {
			return before, nil
		}
		before = at
		at, err = g.Forward(append(slices.Clip(at), choices[len(at)]), harm)
	}
	for n := len(choices) - 1; err == nil && n >= 0; n-- {
		_, forced, failed := g.forced(choices[:n], -1)
		if err = failed; !forced {
			return choices[:n], err
		}
	}
	return at, err
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
func (g *Game) forced(choices []simulator.Choice, click int) (simulator.Choice, bool, error) {
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
		events, err := g.events(choices, c, before)
		if err != nil {
			return c, false, err
		}
		if unnoticed(events) {
			return c, true, nil
		}
	}
	if click < 0 {
		return simulator.Choice{}, false, nil
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

// goesOn is the move that goes on with what the choice at the place click began: a client asks, its request arrives and is
// answered, or time passes until somebody does something. That ends with what changes the game, and before a message that
// a fault can strike. What a client then only learns or reads belongs to it.
func (g *Game) goesOn(choices []simulator.Choice, click int, moves []simulator.Choice, run *schedule.Run) (next simulator.Choice, on bool, err error) {
	began, mayFault := choices[click], false
	stamps := g.Lock.Expiry == lock.ExpiryClients
	apart := stamps || g.Bounds.Nodes > 1 // the order of commands of several clients matters
	for _, c := range moves {
		switch {
		case c.Verb >= simulator.FaultVerb:
			if mayFault = true; strikesMessage[c.Verb] || stamps && c == faults.PauseUnsentOf(int(c.Client)) {
				return next, false, nil
			}
		case c.Verb == simulator.Resume || c.Verb == simulator.Orphaned || began.Verb != simulator.Pass && c.Client != began.Client:
		case on:
			return next, false, nil // there is a choice
		default:
			next, on = c, true
		}
	}
	if !on || stamps && began.Verb == simulator.Pass || began.Verb >= simulator.FaultVerb || began.Verb == simulator.Orphaned || began.Verb != simulator.Pass && began.Client == 0 {
		return next, false, nil
	}
	before, err := g.game.Replay(choices[:click])
	if err != nil || !changes(run.Events[len(before.Events):], mayFault || apart) {
		return next, err == nil, err
	}
	events, err := g.events(choices, next, run)
	sends := slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Send })
	return next, err == nil && !sends && !changes(events, mayFault || apart), err
}

// strikesMessage are the faults of messages, by their verbs.
var strikesMessage = map[simulator.Verb]bool{
	faults.LoseReply.Verb: true, faults.LoseRequest.Verb: true, faults.Delay.Verb: true, faults.Return.Verb: true,
	faults.FailCall.Verb: true,
}

// changes reports whether events change the game: somebody gets in or writes, a lease ends, or, if a fault may follow, a
// server executes a command.
func changes(events []history.Event, mayFault bool) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		switch e.Kind {
		case history.Enter, history.Write, history.Expire:
			return true
		}
		return e.Kind == history.Apply && mayFault
	})
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
