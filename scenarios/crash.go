package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// crashHolding: the documentation of SETNX describes this deadlock, and all five articles
// tell it.
var crashHolding = race.Scenario{
	ID:       "crash-holding",
	Race:     "R01",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.TTL/10, faults.CrashOf(1))}}
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 1),
		race.Event(history.Enter, 1), race.Event(history.Crash, 1),
		race.EventOfOther(history.Acquire, 1)),
}

// crashBeforeExpire: article 004 calls such a key immortal; redis-py had this lock until
// 2014.
var crashBeforeExpire = race.Scenario{
	ID:       "crash-before-expire",
	Race:     "R02",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    func(p race.Profile) race.Reason { return unless(p.TwoSteps, "ttl-never-missing") },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.CreatesKeyWithoutTTL(1), Do: race.Inject(0, faults.CrashOf(1))}}
	},
	Triggered: race.SequenceWithout(setsTTL,
		race.CreatesKeyWithoutTTL(1), race.Event(history.Crash, 1),
		race.EventOfOther(history.Acquire, 1)),
}

// setsTTL matches the moment at which c1's key gets a TTL.
func setsTTL(e *history.Event) bool {
	return e.Kind == history.Change && e.Client == 1 && e.Key == client.Key && e.Until != history.Forever
}
