package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// doubleRun: the README of ShedLock. No lock fails: no two clients are inside together; the
// job runs twice. at-least-for, which is made against it, is an ORPHAN on purpose: it keeps
// the lock after its holder has released it.
var doubleRun = race.Scenario{
	ID:           "double-run",
	Race:         "R44",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *settings) { s.Clients, s.Skew = 3, race.Seconds(2) }),
	Clients: func(s settings) clients {
		job := race.Client{Work: s.Retry * 3 / 10, Once: true}
		late, same := job, job
		late.Start, late.Skew = s.Skew, -s.Skew // on the full minute, by its own clock
		same.Start = s.Retry / 10
		return clients{job, late, same}
	},
	Triggered: func(h *history.History) bool {
		onTheMinute := func(e *history.Event) bool { return c2Asks(e) && e.At+e.Skew == 0 }
		return race.InOrder(h, c1Enters, c3Asks, c1Leaves, onTheMinute)
	},
}
