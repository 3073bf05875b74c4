package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Races in which a client outside the protocol removes the key: of several servers the first, a majority still has it.

// strayDelete: an operator or a cleanup script deletes the key.
var strayDelete = race.Race{
	ID: "stray-delete", Code: "R38", Group: "strangers",
	Settings:  race.Standard(),
	Budget:    race.FixedBudget("delete=1"),
	Clients:   holderAndRival,
	Script:    firstServerLoses(faults.DeleteOf(1, 0)),
	Triggered: lostInside,
}

// eviction: the volatile-* policies that the documentation of Redis lists.
var eviction = variant(strayDelete, "eviction", "R38B", func(sc *race.Race) {
	sc.Budget, sc.Needs = race.FixedBudget("evict=1"), needs{race.TTL}
	sc.Script = firstServerLoses(faults.EvictOf(1, 0))
})

// flush: FLUSHALL also removes the fencing counter.
var flush = variant(strayDelete, "flush", "R38C", func(sc *race.Race) {
	fenced(sc)
	sc.Budget, sc.Script = race.FixedBudget("flush=1"), firstServerLoses(faults.FlushOf(1))
	sc.Triggered = func(h *history.History) bool { return lostInside(h) && sameFencingToken(h) }
})

// firstServerLoses injects a fault that removes keys of the first server, one Retry after
// c1 has entered. The lock is the first of its keys by name.
func firstServerLoses(how simulator.Choice) func(settings, int) script {
	return func(s settings, _ int) script { return inject(c1Enters, s.Retry, how) }
}

// lostInside reports whether c1 lost the key while inside and another asked, and no client of the lock deleted it.
func lostInside(h *history.History) bool {
	outside := func(e *history.Event) bool { return e.Kind == history.External }
	return race.InOrder(h, c1Enters, outside, race.LosesKey, race.OthersSend(1), c1Leaves)
}
