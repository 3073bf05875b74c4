package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// foreignShutdown: article 004 prints the @PreDestroy hook that deletes the key.
var foreignShutdown = race.Scenario{
	ID:       "foreign-shutdown",
	Race:     "R11",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    needsShutdownHook,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Run: func(a *race.ClientRun) {
				a.TryOnce()
				a.Clock().Sleep(s.Retry)
				a.ShutDown()
			}},
			{Start: s.Retry * 17 / 10, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Triggered: race.Sequence(
		race.Event(history.Enter, 1), race.Event(history.Refuse, 2), race.DeletesKey(2),
		race.Event(history.Acquire, 3), race.Event(history.Leave, 1)),
}

// ownShutdown: the same hook of article 004. It runs beside the job, which is not
// interrupted.
var ownShutdown = race.Scenario{
	ID:       "own-shutdown",
	Race:     "R11B",
	Settings: race.Standard(),
	Needs:    needsShutdownHook,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2, Run: func(a *race.ClientRun) {
				a.Clock().AfterFunc(s.Retry*2, a.ShutDown)
				a.AcquireWorkRelease()
			}},
			{Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL * 2 / 5},
		}
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 1),
		race.Event(history.Enter, 1), race.DeletesKey(1), race.EventOfOther(history.Acquire, 1)),
}
