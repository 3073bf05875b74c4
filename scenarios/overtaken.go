package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// overtaken: the reason for fair locks, which Redisson has, and for the queues of
// ZooKeeper and etcd.
var overtaken = race.Scenario{
	ID:       "overtaken",
	Race:     "R37",
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Start: s.Retry / 2, Work: s.Retry},
			{Work: s.Retry * 9 / 10, Run: repeatWithoutRest},
		}
	},
	Triggered: race.SequenceWithout(race.Event(history.Enter, 1),
		race.Event(history.Refuse, 1), race.Event(history.Released, 2), race.Event(history.Acquire, 2)),
}

// repeatWithoutRest acquires, works and releases fifteen times, without a pause.
func repeatWithoutRest(a *race.ClientRun) {
	for range 15 {
		a.AcquireWorkRelease()
	}
}
