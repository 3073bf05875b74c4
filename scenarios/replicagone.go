package scenarios

import (
	"time"

	"locklab/scenarios/race"
)

// replicaGone: the price of requiring acknowledgements, as Redisson does from 3.17.0 on.
var replicaGone = race.Scenario{
	ID:        "replica-gone",
	Race:      "R21D",
	Settings:  race.StandardWith(func(s *settings) { s.Lag = time.Hour }),
	Replicas:  1,
	Clients:   race.Calm.Clients,
	Triggered: race.SequenceWithout(replicates, c1Asks, race.CreatesKey(1), othersAsk),
}
