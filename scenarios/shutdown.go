package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// closes is what the races of a shutdown need.
func closes(p race.Profile) race.Reason {
	if !p.Closes {
		return "no-shutdown-hook"
	}
	return ""
}

var ForeignShutdown = race.Scenario{
	ID:       "foreign-shutdown",
	Race:     "R11",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    closes,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Play: func(a *race.ClientRun) {
				a.Once()
				a.Clock().Sleep(s.Retry)
				a.ShutDown()
			}},
			{Start: s.Retry * 17 / 10, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Refuse, 2), removes(2), race.Event(history.Acquire, 3), race.Event(history.Leave, 1))
	},
}

var OwnShutdown = race.Scenario{
	ID:       "own-shutdown",
	Race:     "R11B",
	Settings: race.Standard(),
	Needs:    closes,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2, Play: func(a *race.ClientRun) {
				a.Clock().AfterFunc(s.Retry*2, a.ShutDown)
				a.Play()
			}},
			{Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL * 2 / 5},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), removes(1), race.EventOfOther(history.Acquire, 1))
	},
}
