package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// deadBusiness: Redisson issue 3521, a lock held for as long as the process lives. A lock
// without TTL stays as well, without any daemon. The lock of daemon-29 ends by itself,
// since its second renewal is due only when the lease is over.
var deadBusiness = race.Scenario{
	ID:       "dead-business",
	Race:     "R16",
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 10, Fails: true}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: race.Sequence(race.Event(history.Enter, 1), race.Throws(1), race.EventOfOther(history.Acquire, 1)),
}

// deadProcess is deadBusiness in which the process is killed later.
var deadProcess = race.Scenario{
	ID:       "dead-process",
	Race:     "R16B",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needsWatchdog,
	Clients:  deadBusiness.Clients,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Leave, 1), Do: race.Inject(s.TTL*6/5, faults.CrashOf(1))}}
	},
	Triggered: race.Sequence(
		race.Throws(1), race.EventOfOther(history.Acquire, 1), race.Event(history.Crash, 1),
		race.EventOfOther(history.Acquire, 1)),
}
