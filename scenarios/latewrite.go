package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var lateWrite = race.Scenario{
	ID:       "late-write",
	Race:     "R20",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Clients:  lateWriters,
	Script:   holdWrite,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(accepted)...)
	},
}

var lateWriteFenced = race.Scenario{
	ID:       "late-write-fenced",
	Race:     "R20F",
	Settings: lateWrite.Settings,
	Budget:   lateWrite.Budget,
	Guard:    history.Fenced,
	Needs:    GcPauseFenced.Needs,
	Clients:  lateWriters,
	Script:   holdWrite,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(func(e *history.Event) bool { return e.Kind == history.Write })...)
	},
}

var lateWriteCAS = race.Scenario{
	ID:        "late-write-cas",
	Race:      "R20C",
	Settings:  lateWrite.Settings,
	Budget:    lateWrite.Budget,
	Guard:     history.CompareAndSet,
	Clients:   lateWriters,
	Script:    holdWrite,
	Triggered: lateWriteFenced.Triggered,
}

func lateWriters(s race.Settings) []race.Client {
	return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL / 2}}
}

// holdWrite has the network hold up c1's first write for most of a lease.
func holdWrite(s race.Settings, _ int) []race.Trigger {
	writes := func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
	}
	return []race.Trigger{
		{On: writes, Do: func(*schedule.Stage, *history.Event) {}}, // the read
		{On: writes, Do: race.Inject(0, faults.DelayOf(1, 0, s.TTL*3/5))},
	}
}

// wroteLate is what happens when c1's write arrives after c2's.
func wroteLate(arrives func(*history.Event) bool) []func(*history.Event) bool {
	return []func(*history.Event) bool{
		race.Event(history.Delay, 1), race.Event(history.Released, 1), race.Event(history.Enter, 2),
		func(e *history.Event) bool { return accepted(e) && e.Client == 2 },
		func(e *history.Event) bool { return arrives(e) && e.Client == 1 },
	}
}

// accepted names the writes that the resource takes.
func accepted(e *history.Event) bool { return e.Kind == history.Write && e.OK }
