package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// sameThread: article 004 uses Thread.getId() as the value; article 003 explains what
// Redisson adds to it. All requests of c1's release are frozen, so that a release that
// checks first sees c2's lock.
var sameThread = variant(lateRelease, "same-thread", "R12", func(sc *race.Scenario) {
	sc.Needs = needs("release-unchecked", func(p race.Profile) bool { return p.ChecksOwner })
	sc.Clients = func(s settings) clients {
		all := lateRelease.Clients(s)
		all[0].Thread, all[1].Thread = "17", "17"
		return all
	}
	sc.Script = func(settings, int) script {
		return script{{On: c1Releases, Do: race.Freeze(1)}, {On: c2Enters, Do: race.Thaw(1, 0)}}
	}
})

// sameToken: article 002 writes random.nextint() for the token. What is harmed depends on
// the lock: compare-and-delete deletes the other's key; a reentrant lock takes the second
// client for its owner; and Redlock deletes with the clean-up of the refused client,
// before any client releases.
var sameToken = variant(sameThread, "same-token", "R12B", func(sc *race.Scenario) {
	sc.Clients = func(s settings) clients {
		all := lateRelease.Clients(s)
		all[0].Token, all[1].Token = "42", "42"
		return all
	}
	takenForOwner := func(e *history.Event) bool { // for c1, while that is inside
		return c2Enters(e) || e.Kind == history.Change && e.Client == 2 && e.Key == client.Key && e.Before != ""
	}
	sc.Triggered = func(h *history.History) bool {
		return lateRelease.Triggered(h) || race.InOrder(h, c1Enters, takenForOwner, c1Leaves)
	}
})
