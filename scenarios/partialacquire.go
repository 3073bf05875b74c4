package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// partialAcquire: the keys that a crashed client leaves on the servers are often called
// orphans. Here ORPHAN is a key of a living client; the crashed one's keys are BLOCKED, as
// in crash-holding.
var partialAcquire = variant(crashHolding, "partial-acquire", "R30", func(sc *race.Scenario) {
	sc.Needs = needsSeveralServers
	sc.Script = func(_ settings, nodes int) script {
		return inject(race.CreatesKeyOn(1, race.Quorum(nodes)), 0, faults.CrashOf(1))
	}
	sc.Triggered = func(h *history.History) bool {
		return race.InOrderWithout(h, race.Decides(1), race.CreatesKeyOn(1, race.Quorum(h.Nodes)), c1Crashes, othersAsk)
	}
})
