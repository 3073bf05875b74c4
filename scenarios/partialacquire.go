package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// partialAcquire: the keys that a crashed client leaves on the servers are often called
// orphans. Here ORPHAN is a key of a living client; the crashed one's keys are BLOCKED, as
// in crash-holding.
var partialAcquire = race.Scenario{
	ID:       "partial-acquire",
	Race:     "R30",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needsSeveralServers,
	Clients:  crashHolding.Clients,
	Script: func(_ race.Settings, nodes int) []race.Trigger {
		return []race.Trigger{{On: race.CreatesKeyOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.CrashOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Decides(1),
			race.CreatesKeyOn(1, race.Quorum(h.Nodes)), race.Event(history.Crash, 1),
			race.EventOfOther(history.Acquire, 1))
	},
}
