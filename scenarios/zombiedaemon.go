package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// Races of a renewal that goes on after its lease has ended and hits another's lease. What
// a daemon that is never stopped does to its own key is dead-business.

// zombieDaemon: article 001's renewing thread has neither a check of the owner nor an end.
var zombieDaemon = race.Scenario{
	ID:       "zombie-daemon",
	Race:     "R14C",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Pause = 3, race.Seconds(10) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needsWatchdog,
	Clients:  zombieClients,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Throws(1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 2),
		race.Throws(1), race.Event(history.Pause, 1), race.Event(history.Enter, 2),
		race.Event(history.Resume, 1), race.SendsFromTimer(1)),
}

// zombieKeeps is zombieDaemon with a second client that crashes.
var zombieKeeps = race.Scenario{
	ID:       "zombie-keeps",
	Race:     "R14D",
	Settings: zombieDaemon.Settings,
	Budget:   race.FixedBudget("pause=1,crash=1"),
	Needs:    needsWatchdog,
	Clients:  zombieClients,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(zombieDaemon.Script(s, nodes),
			race.Trigger{On: race.Event(history.Enter, 2), Do: race.Inject(s.Retry, faults.CrashOf(2))})
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 2),
		race.Throws(1), race.Event(history.Pause, 1), race.Event(history.Enter, 2),
		race.Event(history.Crash, 2), race.Event(history.Resume, 1), race.SendsFromTimer(1),
		race.Event(history.Acquire, 3)),
}

// zombieClients are c1, whose business fails, c2, which is inside when c1's daemon wakes,
// and c3, which waits.
func zombieClients(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 10, Fails: true},
		{Start: s.TTL + s.Retry/2, Work: s.TTL * 19 / 20},
		{Start: s.TTL + s.Retry*5/2, Work: s.Retry},
	}
}
