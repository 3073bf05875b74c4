package scenarios

import (
	"fmt"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// slowWork: article 002 names the time-out as what the TTL lock does not solve.
var slowWork = race.Race{
	ID: "slow-work", Code: "R03", Group: "lease",
	Data:         true,
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL * 3 / 2},
			{Start: s.Retry / 2, Work: s.TTL * 2 / 5, Tail: s.TTL * 2 / 5},
			{Start: s.TTL*3/2 - s.Retry*3/10, Work: s.Retry, Tail: s.Retry},
		}
	},
	Triggered: func(h *history.History) bool {
		begin := history.Forever
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case c1Enters(e):
				begin = e.At
			case othersAsk(e) && e.At-h.TTL > begin:
				return true // c1 is still inside: it leaves only after one and a half leases
			case c1Leaves(e):
				begin = history.Forever
			}
		}
		return false
	},
}

// slowAcquire: node-redlock issues 169, 274 and 299.
var slowAcquire = race.Race{
	ID: "slow-acquire", Code: "R26", Group: "time",
	Settings: race.StandardWith(func(s *settings) { s.Timeout = race.Seconds(15) }),
	Budget:   func(nodes int) string { return fmt.Sprintf("delay=%d", nodes) },
	// a client that enters early is still inside when c2 begins
	Clients: but(lateEntryClients, func(s settings, all clients) { all[0].Tail = s.Retry * 9 / 5 }),
	Script: func(s settings, nodes int) script {
		follow, thread := race.FollowRequests(1)
		return script{follow, {Each: true, Times: nodes,
			On: race.CreatesKey(1),
			Do: injectAs(s.Latency/2, func(e *history.Event) simulator.Choice {
				return faults.DelayOf(1, thread(e), (s.TTL+s.Retry)/time.Duration(nodes))
			}),
		}}
	},
	Triggered: func(h *history.History) bool {
		var held, until time.Duration // how late the answers are together, and when the last is there
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case c1Asks(e):
				held = 0
			case race.Event(history.Delay, 1)(e) && e.Note == "reply":
				held, until = held+e.D, max(until, e.At+e.D)
			case race.Decides(1)(e):
				return held > h.TTL && e.At >= until
			}
		}
		return false
	},
}

// lateEntryClients is for a c1 that gets the answer a second after its lease has ended: c2 is
// inside by then, writes before c1 and leaves after it.
func lateEntryClients(s settings) clients {
	return clients{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: (s.TTL + s.Retry) / 2, Work: s.Retry, Tail: s.Retry * 7 / 2},
	}
}

// pauseInFlight: Kleppmann's second objection to Redlock, and antirez's answer to it.
var pauseInFlight = race.Race{
	ID: "pause-in-flight", Code: "R27", Group: "time",
	Settings: race.StandardWith(func(s *settings) { s.Pause = race.Seconds(11) }),
	Budget:   race.FixedBudget("pause=1"),
	Clients:  lateEntryClients,
	Script: func(s settings, nodes int) script {
		return inject(race.CreatesKeyOn(1, nodes), 0, faults.PauseOf(1, s.Pause))
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Decides(1), race.CreatesKeyOn(1, h.Asked()), c1Pauses, othersAsk, c1Resumes,
			race.Event(history.Answer, 1))
	},
}
