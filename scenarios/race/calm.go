package race

import "locklab/simulator/history"

// Calm is the scenario without any fault: two clients want the lock, one after the
// other has it. It is here, not with the other races, because a Profile is observed in it.
var Calm = Scenario{
	ID:                  "calm",
	Race:                "R00",
	AllowsShared:        true,
	Settings:            Standard(),
	IncludeNonExclusive: true,
	Clients: func(s Settings) []Client {
		return []Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: Sequence(Event(history.Enter, 1), EventOfOther(history.Acquire, 1), Event(history.Leave, 1)),
}
