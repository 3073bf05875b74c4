package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
)

// twoPauses was found by exhaustive search, see proofs.txt.
var twoPauses = race.Scenario{
	ID:       "two-pauses",
	Race:     "S2",
	Settings: race.StandardWith(func(s *settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=2"),
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry * 3 / 2, Tail: s.Retry},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry * 2},
		}
	},
	Script: func(s settings, _ int) script {
		return script{
			{On: c1Enters, Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: c1Resumes, Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))},
		}
	},
	Triggered: race.Sequence(c1Enters, c1Pauses, othersAsk, c1Resumes, c1Pauses, othersAsk, c1Resumes, c1Leaves),
}
