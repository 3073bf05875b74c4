package play

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// A Mended is an attack on one lock, tried on another.
type Mended struct {
	Position *Position // of the other lock, after the same moves
	Same     int       // how many of the choices were possible there as they were
	// Search is of every way that the other lock can go with the faults of the attack. So
	// it shows whether the attack still works in some other order of moves. One in lockstep that
	// does not come to the harm does not show that it is out of reach: then this is one at any timing, in which each
	// client takes the lock once and asks for as long as it takes.
	Search *search.Search
}

// openStates are those that a search at any timing may visit in place of one in lockstep: about two seconds.
const openStates = 200_000

// Against tries the attack of choices, which came to harm, on another lock, with the same bounds: first move by
// move, then in every order.
//
// Locks differ in what they send, so not every move has its like. A move that is not
// possible is replaced by one of the same kind of the same client, or by whatever has to
// happen first, and otherwise left out. What is paused stays paused until the attack ends
// the pause or nothing else is left.
func (g *Game) Against(ctx context.Context, other lock.Entry, harm verdict.Word, choices []simulator.Choice) (*Mended, error) {
	b := g.Bounds
	b.Nodes = min(b.Nodes, search.FewServers(other))
	if other.Servers() > 1 && b.Nodes == 1 {
		b.Nodes = 0
	}
	rival, err := New(ctx, other, b)
	if err != nil {
		return nil, err
	}
	defer rival.Close()
	f := imitation{Game: rival}
	for n, c := range choices {
		at, err := g.game.Replay(choices[:n+1])
		if err != nil {
			return nil, err
		}
		if err := f.follow(c, at.End); err != nil {
			return nil, err
		}
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	m := &Mended{Same: f.same}
	if m.Position, err = rival.At(f.choices); err != nil {
		return nil, err
	}
	if b.Budget, err = g.usedBudget(choices); err != nil {
		return nil, err
	}
	b.Nodes, b.MaxStates = rival.Bounds.Nodes, MaxStates
	m.Search, err = search.Explore(ctx, other, b)
	if err != nil || b.Timing != search.Lockstep {
		return m, err
	}
	if _, _, found := Par(m.Search, harm); !found {
		m.Search, err = search.Explore(ctx, other, atAnyTiming(b))
	}
	return m, err
}

func atAnyTiming(b search.Bounds) search.Bounds {
	b.Timing, b.Attempts, b.Retries, b.MaxStates = search.AnyTiming, 1, search.AutoRetries, openStates
	return b
}

// usedBudget allows the faults among choices, as large as the game's budget allows them.
func (g *Game) usedBudget(choices []simulator.Choice) (faults.Budget, error) {
	used, err := g.faults(choices)
	if err != nil {
		return "", err
	}
	budget, err := g.Bounds.Budget.Parse()
	if err != nil {
		return "", err
	}
	var items []string
	for i, f := range used {
		switch {
		case f.Used == 0:
		case budget[i].Max > 0:
			items = append(items, fmt.Sprintf("%s=%d@%v", f.Name, f.Used, budget[i].Max))
		default:
			items = append(items, fmt.Sprintf("%s=%d", f.Name, f.Used))
		}
	}
	return faults.Budget(strings.Join(items, ",")), nil
}

// An imitation makes the choices of one lock on another.
type imitation struct {
	*Game
	choices []simulator.Choice
	same    int
}

// longest is the number of moves after which an imitation ends: no game of the levels is as long.
const longest = 400

// follow makes c or what comes nearest to it; until is the true time after it.
func (f *imitation) follow(c simulator.Choice, until time.Duration) error {
	for len(f.choices) < longest {
		moves, err := f.game.Moves(f.choices)
		if err != nil {
			return err
		}
		if slices.Contains(moves, c) {
			f.choices = append(f.choices, c)
			f.same++
			return nil
		}
		like := slices.IndexFunc(moves, func(m simulator.Choice) bool { return m.Verb == c.Verb && m.Client == c.Client })
		switch {
		case c.Verb == simulator.Pass:
			run, err := f.game.Replay(f.choices)
			if err != nil {
				return err
			}
			next := ordinary(moves)
			if next.Verb == 0 || next.Verb == simulator.Pass && run.End+next.D > until {
				return nil
			}
			f.choices = append(f.choices, next)
			if next.Verb == simulator.Pass && run.End+next.D == until {
				return nil
			}
			continue
		case like >= 0:
			f.choices = append(f.choices, moves[like])
		}
		return nil
	}
	return nil
}

// finish lets the rest happen, without faults.
func (f *imitation) finish() error {
	for len(f.choices) < longest {
		moves, err := f.game.Moves(f.choices)
		if err != nil {
			return err
		}
		next := ordinary(moves)
		if next.Verb == 0 {
			return nil
		}
		f.choices = append(f.choices, next)
	}
	return nil
}

// ordinary is the move that is nearest to no interference: what can happen at once, else
// the passing of time, and the end of a pause only if there is nothing else; the zero
// choice if there is only a fault, or nothing.
func ordinary(moves []simulator.Choice) (last simulator.Choice) {
	for _, c := range moves {
		switch {
		case c.Verb >= simulator.FaultVerb:
		case c.Verb != simulator.Pass && c.Verb != simulator.Resume:
			return c
		case c.Verb == simulator.Pass || last.Verb == 0:
			last = c
		}
	}
	return last
}
