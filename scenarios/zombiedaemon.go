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
	Settings: race.StandardWith(func(s *settings) { s.Clients, s.Pause = 3, race.Seconds(10) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needsWatchdog,
	// c1's business fails, c2 is inside when c1's daemon wakes, and c3 waits.
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL / 10, Fails: true},
			{Start: s.TTL + s.Retry/2, Work: s.TTL * 19 / 20},
			{Start: s.TTL + s.Retry*5/2, Work: s.Retry},
		}
	},
	Script:    func(s settings, _ int) script { return inject(race.Throws(1), s.Retry, faults.PauseOf(1, s.Pause)) },
	Triggered: race.SequenceWithout(c2Leaves, race.Throws(1), c1Pauses, c2Enters, c1Resumes, race.SendsFromTimer(1)),
}

// zombieKeeps is zombieDaemon with a second client that crashes.
var zombieKeeps = variant(zombieDaemon, "zombie-keeps", "R14D", func(sc *race.Scenario) {
	sc.Budget = race.FixedBudget("pause=1,crash=1")
	sc.Script = func(s settings, nodes int) script {
		return append(zombieDaemon.Script(s, nodes), inject(c2Enters, s.Retry, faults.CrashOf(2))...)
	}
	sc.Triggered = race.SequenceWithout(c2Leaves, race.Throws(1), c1Pauses, c2Enters, race.Event(history.Crash, 2),
		c1Resumes, race.SendsFromTimer(1), c3Asks)
})
