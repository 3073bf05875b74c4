package play

import (
	"context"
	"fmt"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// A Mended is an attack on one lock, tried on another.
type Mended struct {
	Run *race.Outcome // after the same moves
	// Search is of every way that the other lock can go with the faults of the attack. So it shows whether the attack
	// still works in another order of moves. One in lockstep without the harm does not show that it is out of reach:
	// then this is one at any timing, in which each client takes the lock once and asks for as long as it takes.
	Search *search.Search
}

// openStates are those that a search at any timing may visit in place of one in lockstep: about two seconds.
const openStates = 200_000

// Against tries the attack of choices, which came to harm, on another lock, with the same bounds: first move by
// move, as search.Against does, then in every order.
func (g *Game) Against(
	ctx context.Context, other lock.Entry, harm verdict.Word, choices []simulator.Choice,
) (m *Mended, err error) {
	m = &Mended{}
	if m.Run, err = search.Against(other, g.trace(choices)); err != nil {
		return nil, err
	}
	b, err := search.ParseBounds(m.Run.Trace.Settings)
	if err != nil {
		return nil, err
	}
	b.Budget, b.MaxStates = g.usedBudget(choices), MaxStates
	m.Search, err = search.Explore(ctx, other, b)
	if err != nil || b.Timing != search.Lockstep {
		return m, err
	}
	if _, _, found := Par(m.Search, harm); !found {
		b.Timing, b.Attempts, b.Retries, b.MaxStates = search.AnyTiming, 1, search.AutoRetries, openStates
		m.Search, err = search.Explore(ctx, other, b)
	}
	return m, err
}

// usedBudget allows the faults among choices, as large as the game's budget allows them.
func (g *Game) usedBudget(choices []simulator.Choice) faults.Budget {
	var items []string
	for _, f := range g.faults(choices) {
		item := fmt.Sprintf("%s=%d", f.Fault.Name, f.Used)
		if f.Max > 0 {
			item += "@" + f.Max.String()
		}
		if f.Used > 0 {
			items = append(items, item)
		}
	}
	return faults.Budget(strings.Join(items, ","))
}
