package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// It is told as a fall of the cron locks. No lock falls: nobody is inside together
// with anybody; what is done twice is the job. The lock that is made against it,
// at-least-for, is the one with a verdict: it stands when nobody needs it any more, a
// ORPHAN on purpose.
var doubleRun = race.Scenario{
	ID:           "double-run",
	Race:         "R44",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients, s.Skew = 3, race.Seconds(2) }),
	Clients: func(s race.Settings) []race.Client {
		job := race.Client{Work: s.Retry * 3 / 10, Play: (*race.ClientRun).Once}
		late, same := job, job
		late.Start, late.Skew = s.Skew, -s.Skew // on the full minute, by its own clock
		same.Start = s.Retry / 10
		return []race.Client{job, late, same}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.Leave, 1), func(e *history.Event) bool {
			return e.Kind == history.Acquire && e.Client == 2 && e.At+e.Skew == 0
		})
	},
}
