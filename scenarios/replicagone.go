package scenarios

import (
	"time"

	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// replicaGone: the price of requiring acknowledgements, as Redisson does from 3.17.0 on.
var replicaGone = race.Scenario{
	ID:       "replica-gone",
	Race:     "R21D",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = time.Hour }),
	Replicas: 1,
	Clients:  race.Calm.Clients,
	Triggered: race.SequenceWithout(race.AnyEvent(history.Replicate),
		race.Event(history.Acquire, 1), race.CreatesKey(1), race.EventOfOther(history.Acquire, 1)),
}
