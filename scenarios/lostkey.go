package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Races in which a client outside the protocol removes the key. On several servers the
// first one loses it, and a majority still has it.

// strayDelete: an operator or a cleanup script deletes the key.
var strayDelete = race.Scenario{
	ID:        "stray-delete",
	Race:      "R38",
	Settings:  race.Standard(),
	Budget:    race.FixedBudget("delete=1"),
	Clients:   holderAndRival,
	Script:    firstServerLoses(faults.DeleteOf(1, 0)),
	Triggered: lostInside,
}

// eviction: the volatile-* policies that the documentation of Redis lists.
var eviction = race.Scenario{
	ID:        "eviction",
	Race:      "R38B",
	Settings:  strayDelete.Settings,
	Budget:    race.FixedBudget("evict=1"),
	Needs:     func(p race.Profile) race.Reason { return unless(p.Expires, "no-ttl") },
	Clients:   holderAndRival,
	Script:    firstServerLoses(faults.EvictOf(1, 0)),
	Triggered: lostInside,
}

// flush: FLUSHALL also removes the fencing counter.
var flush = race.Scenario{
	ID:       "flush",
	Race:     "R38C",
	Settings: strayDelete.Settings,
	Budget:   race.FixedBudget("flush=1"),
	Guard:    history.Fenced,
	Needs:    needsFencingCounter,
	Clients:  holderAndRival,
	Script:   firstServerLoses(faults.FlushOf(1)),
	Triggered: func(h *history.History) bool {
		return lostInside(h) && sameFencingToken(h)
	},
}

// firstServerLoses injects a fault that removes keys of the first server, one Retry after
// c1 has entered. The lock is the first of its keys by name.
func firstServerLoses(how simulator.Choice) func(race.Settings, int) []race.Trigger {
	return func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, how)}}
	}
}

// lostInside reports whether c1 lost the key while it was inside and another client asked, and
// no client of the lock had deleted it.
func lostInside(h *history.History) bool {
	outside := func(e *history.Event) bool { return e.Kind == history.External }
	return race.InOrder(h,
		race.Event(history.Enter, 1), outside, race.LosesKey, race.OthersSend(1),
		race.Event(history.Leave, 1))
}
