package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var sameThread = race.Scenario{
	ID:       "same-thread",
	Race:     "R12",
	Settings: LateRelease.Settings,
	Needs: func(p race.Profile) race.Reason {
		if !p.ChecksOwner {
			return "release-unchecked"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		cast := LateRelease.Clients(s)
		cast[0].Thread, cast[1].Thread = "17", "17"
		return cast
	},
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Release, 1), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1) }},
			{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(1) }) }},
		}
	},
	Triggered: LateRelease.Triggered,
}

// A token that two have drawn is told as a danger to the release. Where it strikes
// depends on the lock: compare-and-delete removes the other's key; a reentrant lock
// takes the second for its owner and lets it in; and Redlock deletes with the clean-up
// of the one who was refused, before anybody releases.
var sameToken = race.Scenario{
	ID:       "same-token",
	Race:     "R12B",
	Settings: LateRelease.Settings,
	Needs:    sameThread.Needs,
	Clients: func(s race.Settings) []race.Client {
		cast := LateRelease.Clients(s)
		cast[0].Token, cast[1].Token = "42", "42"
		return cast
	},
	Script: sameThread.Script,
	Triggered: func(h *history.History) bool {
		mistaken := func(e *history.Event) bool { // for c1, while that is inside
			return race.Event(history.Enter, 2)(e) || e.Kind == history.Change && e.Client == 2 && e.Key == client.Key && e.Before != ""
		}
		return LateRelease.Triggered(h) || race.InOrder(h, race.Event(history.Enter, 1), mistaken, race.Event(history.Leave, 1))
	},
}
