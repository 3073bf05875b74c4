package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// clientSkew: article 000 asks to keep the clocks of all servers in step. redis-py compared timestamps until 2014.
var clientSkew = race.Race{
	ID: "client-skew", Code: "R09", Group: "clientclock",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *settings) { s.Skew = race.Seconds(15) }),
	Clients:      but(holderAndRival, func(s settings, all clients) { all[1].Skew = s.Skew }),
	Triggered:    race.Sequence(c1Enters, func(e *history.Event) bool { return c2Asks(e) && e.Skew > 0 }, c1Leaves),
}

// clientBehind: the Go client rueidis sets the end of a lease as an instant (PXAT) by default.
var clientBehind = variant(clientSkew, "client-behind", "R09B", func(sc *race.Race) {
	sc.Clients = but(holderAndRival, func(s settings, all clients) { all[0].Skew = -s.Skew })
	entersBehind := func(e *history.Event) bool { return c1Enters(e) && e.Skew < 0 }
	sc.Triggered = race.Sequence(entersBehind, othersAsk, c1Leaves)
})

// clockDrift: the drift term of Redlock, which articles 002 and 003 leave out.
var clockDrift = race.Race{
	ID: "clock-drift", Code: "R28", Group: "time",
	Settings: race.StandardWith(func(s *settings) { s.Drift = 5 * time.Millisecond }),
	Clients: func(s settings) clients {
		return clients{
			{PPM: -s.DriftPPM(), Run: func(a *race.ClientRun) { a.StayForLease(s.TTL) }},
			{Start: s.TTL * 124 / 125, Work: s.Retry / 2, Retry: s.TTL / 1000},
		}
	},
	Triggered: func(h *history.History) bool {
		var asked, ahead time.Duration
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case c1Asks(e):
				asked, ahead = e.At, e.Skew
			case c1Leaves(e):
				slow, whole := e.Skew < ahead, e.At-asked > h.TTL*9/10 // its clock, its lease
				return slow && whole && race.InOrder(h, c1Enters, othersAsk, c1Leaves)
			}
		}
		return false
	},
}

// serverDrift is clockDrift with fast servers.
var serverDrift = variant(clockDrift, "server-drift", "R28B", func(sc *race.Race) {
	sc.FastServers = true
	sc.Needs = needs{race.ServerClock}
	sc.Clients = but(clockDrift.Clients, func(s settings, all clients) { all[0].PPM, all[1].Start = 0, s.TTL*493/500 })
	sc.Triggered = func(h *history.History) bool {
		// a lease of the length that was asked for, or half as much again with a delay, is one on a clock that is right
		short := func(e *history.Event) bool {
			lasts, some := (e.Until-e.At)%(h.TTL/2), h.TTL/1000
			changed := race.Event(history.Change, 1)(e) && e.After != "" && e.Until != history.Forever
			return changed && lasts > some && lasts < h.TTL/2-some
		}
		late := func(e *history.Event) bool { return othersAsk(e) && e.At > h.TTL*9/10 }
		return race.InOrder(h, short, c1Enters, late, c1Leaves)
	}
})

// clockJump: Kleppmann's first objection to Redlock.
var clockJump = race.Race{
	ID: "clock-jump", Code: "R25", Group: "time",
	Settings: race.StandardWith(func(s *settings) { s.Jump = race.Seconds(11) }),
	Budget:   func(nodes int) string { return "node-clock=1,client-clock=1" + loseBeyondMajorityBudget(nodes) },
	Clients:  holderAndRival,
	Script: func(s settings, nodes int) script {
		jump := func(st *schedule.Stage, _ *history.Event) {
			st.Inject(time.Second, faults.NodeClockOf(race.Quorum(nodes), s.Jump))
			st.Inject(time.Second, faults.ClientClockOf(2, s.Jump))
		}
		return append(loseBeyondMajority(nodes), race.Trigger{On: c1Enters, Do: jump})
	},
	Triggered: func(h *history.History) bool {
		server := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Node > 0 && e.D > h.TTL }
		client := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Client == 2 && e.D > h.TTL }
		return race.InOrder(h, c1Enters, server, client, race.OthersSend(1), c1Leaves)
	},
}

// doubleRun: the README of ShedLock. No lock fails: no two clients are inside together; the job runs twice.
// at-least-for, which is made against it, is an ORPHAN on purpose: it keeps the lock after its holder has released it.
var doubleRun = race.Race{
	ID: "double-run", Code: "R44", Group: "use",
	Data:         true,
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *settings) { s.Clients, s.Skew = 3, race.Seconds(2) }),
	Clients: func(s settings) clients {
		job := race.ClientSpec{Work: s.Retry * 3 / 10, Once: true}
		late, same := job, job
		late.Start, late.Skew = s.Skew, -s.Skew // on the full minute, by its own clock
		same.Start = s.Retry / 10
		return clients{job, late, same}
	},
	Triggered: race.Sequence(c1Enters, c3Asks, c1Leaves,
		func(e *history.Event) bool { return c2Asks(e) && e.At+e.Skew == 0 }), // on the minute
}
