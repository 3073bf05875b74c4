package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// lateWrite: Kleppmann tells of packets that GitHub's network delayed by 90 s.
var lateWrite = race.Scenario{
	ID:       "late-write",
	Race:     "R20",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Clients:  lateWriters,
	Script:   delayWrite,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(accepted)...)
	},
}

// lateWriteFenced is lateWrite with fencing tokens.
var lateWriteFenced = race.Scenario{
	ID:       "late-write-fenced",
	Race:     "R20F",
	Settings: lateWrite.Settings,
	Budget:   lateWrite.Budget,
	Guard:    history.Fenced,
	Needs:    needsFencingCounter,
	Clients:  lateWriters,
	Script:   delayWrite,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(func(e *history.Event) bool { return e.Kind == history.Write })...)
	},
}

// lateWriteCAS is lateWrite with a resource that compares versions.
var lateWriteCAS = race.Scenario{
	ID:        "late-write-cas",
	Race:      "R20C",
	Settings:  lateWrite.Settings,
	Budget:    lateWrite.Budget,
	Guard:     history.CompareAndSet,
	Clients:   lateWriters,
	Script:    delayWrite,
	Triggered: lateWriteFenced.Triggered,
}

// lateWriters are c1, whose write is delayed, and c2, which is at work when it arrives.
func lateWriters(s race.Settings) []race.Client {
	return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL / 2}}
}

// delayWrite delays c1's first write for most of a lease.
func delayWrite(s race.Settings, _ int) []race.Trigger {
	writes := func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
	}
	return []race.Trigger{
		{On: writes}, // the read
		{On: writes, Do: race.Inject(0, faults.DelayOf(1, 0, s.TTL*3/5))},
	}
}

// wroteLate are the events of a write of c1 that arrives after c2's.
func wroteLate(arrives func(*history.Event) bool) []race.Pattern {
	return []race.Pattern{
		race.Event(history.Delay, 1), race.Event(history.Released, 1), race.Event(history.Enter, 2),
		func(e *history.Event) bool { return accepted(e) && e.Client == 2 },
		func(e *history.Event) bool { return arrives(e) && e.Client == 1 },
	}
}

// accepted matches writes that the resource accepts.
func accepted(e *history.Event) bool { return e.Kind == history.Write && e.OK }
