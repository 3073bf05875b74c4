package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

var noFinally = race.Scenario{
	ID:       "no-finally",
	Race:     "R45",
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Play: func(a *race.ClientRun) {
				failing := a.Def
				failing.Fails = true
				client.Work(a.Client, client.Acquire(a.Client, a.Lock, a.Def.Retry), failing.Section())
				a.Clock().Sleep(s.Retry * 2)
				a.Play()
			}},
			{Start: s.Retry / 2, Work: s.Retry},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), func(e *history.Event) bool {
			return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
		}, race.EventOfOther(history.Acquire, 1), race.Event(history.Acquire, 1))
	},
}
