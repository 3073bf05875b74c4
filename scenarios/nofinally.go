package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// noFinally: article 004's tasks release after the work, in no finally.
var noFinally = race.Scenario{
	ID:       "no-finally",
	Race:     "R45",
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Run: func(a *race.ClientRun) {
				failing := a.Spec
				failing.Fails = true
				client.Work(a.Client, client.Acquire(a.Client, a.Lock, a.Spec.Retry), failing.Section())
				a.Clock().Sleep(s.Retry * 2)
				a.AcquireWorkRelease()
			}},
			{Start: s.Retry / 2, Work: s.Retry},
		}
	},
	Triggered: race.Sequence(
		race.Event(history.Enter, 1), race.Throws(1), race.EventOfOther(history.Acquire, 1),
		race.Event(history.Acquire, 1)),
}
