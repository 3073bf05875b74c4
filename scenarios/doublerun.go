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
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients, s.Skew = 3, race.Seconds(2) }),
	Clients: func(s race.Settings) []race.Client {
		job := race.Client{Work: s.Retry * 3 / 10, Once: true}
		late, same := job, job
		late.Start, late.Skew = s.Skew, -s.Skew // on the full minute, by its own clock
		same.Start = s.Retry / 10
		return []race.Client{job, late, same}
	},
	Triggered: func(h *history.History) bool {
		onTheMinute := func(e *history.Event) bool {
			return race.Event(history.Acquire, 2)(e) && e.At+e.Skew == 0
		}
		return race.InOrder(h,
			race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.Leave, 1), onTheMinute)
	},
}
