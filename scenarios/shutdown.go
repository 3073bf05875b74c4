package scenarios

import "locklab/scenarios/race"

// foreignShutdown: article 004 prints the @PreDestroy hook that deletes the key.
var foreignShutdown = race.Race{
	ID: "foreign-shutdown", Code: "R11", Group: "shutdown",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Needs:    needs{race.ShutdownHook},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Run: func(a *race.ClientRun) {
				a.TryOnce()
				a.Clock().Sleep(s.Retry)
				a.ShutDown()
			}},
			{Start: s.Retry * 17 / 10, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Triggered: race.Sequence(c1Enters, c2Refused, race.DeletesKey(2), c3Asks, c1Leaves),
}

// ownShutdown: the same hook of article 004. It runs beside the job, which is not interrupted.
var ownShutdown = race.Race{
	ID: "own-shutdown", Code: "R11B", Group: "shutdown",
	Settings: race.Standard(),
	Needs:    needs{race.ShutdownHook},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL / 2, Run: func(a *race.ClientRun) {
				a.Clock().AfterFunc(s.Retry*2, a.ShutDown)
				a.AcquireWorkRelease()
			}},
			{Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL * 2 / 5},
		}
	},
	Triggered: race.SequenceWithout(c1Leaves, c1Enters, race.DeletesKey(1), othersAsk),
}
