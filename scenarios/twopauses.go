package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// twoPauses was found by exhaustive search, see proofs.txt.
var twoPauses = race.Scenario{
	ID:       "two-pauses",
	Race:     "S2",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=2"),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 3 / 2, Tail: s.Retry},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry * 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Enter, 1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Resume, 1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))},
		}
	},
	Triggered: func(h *history.History) bool {
		pause, resume := race.Event(history.Pause, 1), race.Event(history.Resume, 1)
		return race.InOrder(h,
			race.Event(history.Enter, 1), pause, race.EventOfOther(history.Acquire, 1), resume, pause,
			race.EventOfOther(history.Acquire, 1), resume, race.Event(history.Leave, 1))
	},
}
