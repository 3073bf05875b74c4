package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// gcPause: the picture of Kleppmann's article of 2016. HBase had this bug.
var gcPause = race.Scenario{
	ID:        "gc-pause",
	Race:      "R18",
	Settings:  race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(12.5) }),
	Budget:    race.FixedBudget("pause=1"),
	Clients:   pauseClients,
	Script:    pauseInside,
	Triggered: paused,
}

// gcPauseFenced: fencing tokens, which Kleppmann's article made known.
var gcPauseFenced = race.Scenario{
	ID:        "gc-pause-fenced",
	Race:      "R18F",
	Settings:  gcPause.Settings,
	Budget:    gcPause.Budget,
	Guard:     history.Fenced,
	Needs:     needsFencingCounter,
	Clients:   pauseClients,
	Script:    pauseInside,
	Triggered: paused,
}

// gcPauseCAS: antirez's answer to Kleppmann, a store with compare-and-set.
var gcPauseCAS = race.Scenario{
	ID:        "gc-pause-cas",
	Race:      "R18C",
	Settings:  gcPause.Settings,
	Budget:    gcPause.Budget,
	Guard:     history.CompareAndSet,
	Clients:   pauseClients,
	Script:    pauseInside,
	Triggered: paused,
}

// pauseClients: c2 writes before the paused c1 does, and is inside when c1 leaves.
func pauseClients(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: s.Retry / 2, Work: s.Retry * 5 / 2, Tail: s.Retry * 5 / 2},
	}
}

// pauseInside pauses c1 one Retry after it has entered, or at a random moment of its work.
func pauseInside(s race.Settings, _ int) []race.Trigger {
	begin := s.Retry
	if s.Seed != 0 {
		begin = time.Duration(race.Stream(s.Seed, "pause begins").Int64N(int64(s.Retry * 3)))
	}
	return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(begin, faults.PauseOf(1, s.Pause))}}
}

// paused reports whether c1 was paused inside while another client asked. The length of the
// pause does not matter: a pause that is shorter than the lease is the race too.
func paused(h *history.History) bool {
	return race.InOrder(h,
		race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1),
		race.Event(history.Resume, 1), race.Event(history.Leave, 1))
}
