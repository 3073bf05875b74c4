package scenarios

import "locklab/scenarios/race"

// overtaken: the reason for fair locks, which Redisson has, and for the queues of
// ZooKeeper and etcd.
var overtaken = race.Scenario{
	ID:       "overtaken",
	Race:     "R37",
	Settings: race.Standard(),
	Clients: func(s settings) clients {
		return clients{{Start: s.Retry / 2, Work: s.Retry}, {Work: s.Retry * 9 / 10, Run: repeatWithoutRest}}
	},
	Triggered: race.SequenceWithout(c1Enters, c1Refused, c2Released, c2Asks),
}

// repeatWithoutRest acquires, works and releases fifteen times, without a pause.
func repeatWithoutRest(a *race.ClientRun) {
	for range 15 {
		a.AcquireWorkRelease()
	}
}
