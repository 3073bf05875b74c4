package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// lateWrite: Kleppmann tells of packets that GitHub's network delayed by 90 s. c1's first write is
// delayed for most of a lease, and c2 is at work when it arrives.
var lateWrite = race.Race{
	ID: "late-write", Code: "R20", Group: "pause",
	Data:     true,
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Needs:    needs{race.WriteApart},
	Clients: func(s settings) clients {
		return clients{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL * 3 / 5}} // until the write arrives
	},
	Script: func(s settings, _ int) script {
		writes := func(e *history.Event) bool {
			return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
		}
		return script{
			{On: writes}, // the read
			{On: writes, Do: race.Inject(0, faults.DelayOf(1, 0, s.TTL*3/5))},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(accepted)...) ||
			withoutLock(h) && race.InOrder(h, race.Event(history.Delay, 1), c2Writes, c1Released, race.Event(history.Write, 1))
	},
}

// lateWriteFenced is lateWrite with fencing tokens.
var lateWriteFenced = variant(lateWrite, "late-write-fenced", "R20F", func(sc *race.Race) {
	fenced(sc)
	sc.Triggered = race.Sequence(wroteLate(race.AnyEvent(history.Write))...)
})

// lateWriteCAS is lateWrite with a resource that compares versions.
var lateWriteCAS = variant(lateWriteFenced, "late-write-cas", "R20C", func(sc *race.Race) {
	comparing(sc)
	sc.Needs = needs{race.WriteApart}
})

// wroteLate are the events of a write of c1 that arrives after c2's.
func wroteLate(arrives race.Pattern) []race.Pattern {
	return []race.Pattern{
		race.Event(history.Delay, 1), c1Released, c2Enters, c2Writes,
		func(e *history.Event) bool { return arrives(e) && e.Client == 1 },
	}
}

// c2Writes matches a write of c2 that the resource accepts.
func c2Writes(e *history.Event) bool { return accepted(e) && e.Client == 2 }

// accepted matches writes that the resource accepts.
func accepted(e *history.Event) bool { return e.Kind == history.Write && e.OK }
