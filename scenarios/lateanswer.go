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
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(5) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    func(p race.Profile) race.Reason { return unless(!p.ZooKeeper, "zookeeper-timeout") },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.CreatesKey(1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Resume, 1), Do: race.Inject(0, simulator.Choice{Verb: simulator.GiveUp, Client: 1})},
		}
	},
	Triggered: race.Sequence(
		race.CreatesKey(1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1),
		race.Event(history.Resume, 1), race.Event(history.Timeout, 1)),
}
