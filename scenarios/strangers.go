package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// The races of this file need nobody who takes part in the protocol. On several
// servers it is the first that loses the key, and a majority still has it.

var strayDelete = race.Scenario{
	ID:        "stray-delete",
	Race:      "R38",
	Settings:  race.Standard(),
	Budget:    race.FixedBudget("delete=1"),
	Clients:   losing,
	Script:    loses(faults.DeleteOf(1, 0)),
	Triggered: lostInside,
}

var evicted = race.Scenario{
	ID:       "eviction",
	Race:     "R38B",
	Settings: strayDelete.Settings,
	Budget:   race.FixedBudget("evict=1"),
	Needs: func(p race.Profile) race.Reason {
		if !p.Expires {
			return "no-ttl"
		}
		return ""
	},
	Clients:   losing,
	Script:    loses(faults.EvictOf(1, 0)),
	Triggered: lostInside,
}

var flushed = race.Scenario{
	ID:       "flush",
	Race:     "R38C",
	Settings: strayDelete.Settings,
	Budget:   race.FixedBudget("flush=1"),
	Guard:    history.Fenced,
	Needs:    GcPauseFenced.Needs,
	Clients:  losing,
	Script:   loses(faults.FlushOf(1)),
	Triggered: func(h *history.History) bool {
		return lostInside(h) && sameNumber(h)
	},
}

// loses has the first server lose what it keeps a second after c1 has entered.
// The lock is the first of its keys by name.
func loses(how simulator.Choice) func(race.Settings, int) []race.Trigger {
	return func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, how)}}
	}
}

// lostInside says whether the key was taken from c1, by no client, while it was
// inside, and somebody asked then.
func lostInside(h *history.History) bool {
	stranger := func(e *history.Event) bool { return e.Kind == history.External }
	return race.InOrder(h, race.Event(history.Enter, 1), stranger, forgets, asks, race.Event(history.Leave, 1))
}
