package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var GcPause = race.Scenario{
	ID:        "gc-pause",
	Race:      "R18",
	Settings:  race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(12.5) }),
	Budget:    race.FixedBudget("pause=1"),
	Clients:   pauseCast,
	Script:    pauseScript,
	Triggered: paused,
}

var GcPauseFenced = race.Scenario{
	ID:       "gc-pause-fenced",
	Race:     "R18F",
	Settings: GcPause.Settings,
	Budget:   GcPause.Budget,
	Guard:    history.Fenced,
	Needs: func(p race.Profile) race.Reason {
		if p.Nodes > 1 {
			return "no-fencing-counter"
		}
		return ""
	},
	Clients:   pauseCast,
	Script:    pauseScript,
	Triggered: paused,
}

var gcPauseCAS = race.Scenario{
	ID:        "gc-pause-cas",
	Race:      "R18C",
	Settings:  GcPause.Settings,
	Budget:    GcPause.Budget,
	Guard:     history.CompareAndSet,
	Clients:   pauseCast,
	Script:    pauseScript,
	Triggered: paused,
}

func pauseCast(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: s.Retry / 2, Work: s.Retry * 5 / 2, Tail: s.Retry * 5 / 2},
	}
}

func pauseScript(s race.Settings, _ int) []race.Trigger {
	begin := s.Retry
	if s.Seed != 0 {
		begin = time.Duration(race.Stream(s.Seed, "pause begins").Int64N(int64(s.Retry * 3)))
	}
	return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(begin, faults.PauseOf(1, s.Pause))}}
}

// paused says whether c1's process stood still inside the critical section
// while somebody else asked. How long is the question, not the proof: a pause
// that the lease outlasts is an answer too.
func paused(h *history.History) bool {
	return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Leave, 1))
}
