package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// sameThread: article 004 uses Thread.getId() as the value; article 003 explains what
// Redisson adds to it. All requests of c1's release are frozen, so that a release that
// checks first sees c2's lock.
var sameThread = race.Scenario{
	ID:       "same-thread",
	Race:     "R12",
	Settings: lateRelease.Settings,
	Needs:    func(p race.Profile) race.Reason { return unless(p.ChecksOwner, "release-unchecked") },
	Clients: func(s race.Settings) []race.Client {
		clients := lateRelease.Clients(s)
		clients[0].Thread, clients[1].Thread = "17", "17"
		return clients
	},
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Release, 1), Do: race.Freeze(1)},
			{On: race.Event(history.Enter, 2), Do: race.Thaw(1, 0)},
		}
	},
	Triggered: lateRelease.Triggered,
}

// sameToken: article 002 writes random.nextint() for the token. What is harmed depends on
// the lock: compare-and-delete deletes the other's key; a reentrant lock takes the second
// client for its owner; and Redlock deletes with the clean-up of the refused client,
// before any client releases.
var sameToken = race.Scenario{
	ID:       "same-token",
	Race:     "R12B",
	Settings: lateRelease.Settings,
	Needs:    sameThread.Needs,
	Clients: func(s race.Settings) []race.Client {
		clients := lateRelease.Clients(s)
		clients[0].Token, clients[1].Token = "42", "42"
		return clients
	},
	Script: sameThread.Script,
	Triggered: func(h *history.History) bool {
		takenForOwner := func(e *history.Event) bool { // for c1, while that is inside
			return race.Event(history.Enter, 2)(e) || e.Kind == history.Change && e.Client == 2 && e.Key == client.Key && e.Before != ""
		}
		return lateRelease.Triggered(h) || race.InOrder(h, race.Event(history.Enter, 1), takenForOwner, race.Event(history.Leave, 1))
	},
}
