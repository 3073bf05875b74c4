package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// lateAnswer was found by exhaustive search, see proofs.txt. The timeout is injected as
// soon as the process wakes, before it reads the answer.
var lateAnswer = race.Scenario{
	ID:       "late-answer",
	Race:     "S1",
	Settings: race.StandardWith(func(s *settings) { s.Pause = race.Seconds(5) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needs("zookeeper-timeout", func(p race.Profile) bool { return !p.ZooKeeper }),
	Clients: func(s settings) clients {
		return clients{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry}}
	},
	Script: func(s settings, _ int) script {
		return script{
			{On: race.CreatesKey(1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: c1Resumes, Do: race.Inject(0, simulator.Choice{Verb: simulator.GiveUp, Client: 1})},
		}
	},
	Triggered: race.Sequence(race.CreatesKey(1), c1Pauses, othersAsk, c1Resumes, race.Event(history.Timeout, 1)),
}
