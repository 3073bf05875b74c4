package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
)

// noFinally: article 004's tasks release after the work, in no finally.
var noFinally = race.Scenario{
	ID:       "no-finally",
	Race:     "R45",
	Settings: race.Standard(),
	Clients: func(s settings) clients {
		return clients{
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
	Triggered: race.Sequence(c1Enters, race.Throws(1), othersAsk, c1Asks),
}
