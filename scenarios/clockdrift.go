package scenarios

import (
	"time"

	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// clockDrift: the drift term of Redlock, which articles 002 and 003 leave out.
var clockDrift = race.Scenario{
	ID:       "clock-drift",
	Race:     "R28",
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
var serverDrift = variant(clockDrift, "server-drift", "R28B", func(sc *race.Scenario) {
	sc.FastServers = true
	sc.Needs = needs("no-server-clock", func(p race.Profile) bool { return p.Expires })
	sc.Clients = func(s settings) clients {
		all := clockDrift.Clients(s)
		all[0].PPM = 0
		all[1].Start = s.TTL * 493 / 500
		return all
	}
	sc.Triggered = func(h *history.History) bool {
		// a lease of the length that was asked for, or half as much again with a
		// delay, is one on a clock that is right
		short := func(e *history.Event) bool {
			lasts, some := (e.Until-e.At)%(h.TTL/2), h.TTL/1000
			changed := race.Event(history.Change, 1)(e) && e.After != "" && e.Until != history.Forever
			return changed && lasts > some && lasts < h.TTL/2-some
		}
		late := func(e *history.Event) bool { return othersAsk(e) && e.At > h.TTL*9/10 }
		return race.InOrder(h, short, c1Enters, late, c1Leaves)
	}
})
