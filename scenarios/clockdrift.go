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
	Settings: race.StandardWith(func(s *race.Settings) { s.Drift = 5 * time.Millisecond }),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{PPM: -s.DriftPPM(), Run: func(a *race.ClientRun) { a.StayForLease(s.TTL) }},
			{Start: s.TTL * 124 / 125, Work: s.Retry / 2, Retry: s.TTL / 1000},
		}
	},
	Triggered: func(h *history.History) bool {
		var asked, ahead time.Duration
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.Event(history.Acquire, 1)(e):
				asked, ahead = e.At, e.Skew
			case race.Event(history.Leave, 1)(e):
				slow, whole := e.Skew < ahead, e.At-asked > h.TTL*9/10 // its clock, its lease
				return slow && whole && race.InOrder(h,
					race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
			}
		}
		return false
	},
}

// serverDrift is clockDrift with fast servers.
var serverDrift = race.Scenario{
	ID:          "server-drift",
	Race:        "R28B",
	Settings:    race.StandardWith(func(s *race.Settings) { s.Drift = 5 * time.Millisecond }),
	FastServers: true,
	Needs:       func(p race.Profile) race.Reason { return unless(p.Expires, "no-server-clock") },
	Clients: func(s race.Settings) []race.Client {
		clients := clockDrift.Clients(s)
		clients[0].PPM = 0
		clients[1].Start = s.TTL * 493 / 500
		return clients
	},
	Triggered: func(h *history.History) bool {
		// a lease of the length that was asked for, or half as much again with a
		// delay, is one on a clock that is right
		short := func(e *history.Event) bool {
			lasts, some := (e.Until-e.At)%(h.TTL/2), h.TTL/1000
			return race.Event(history.Change, 1)(e) && e.After != "" && e.Until != history.Forever && lasts > some && lasts < h.TTL/2-some
		}
		late := func(e *history.Event) bool { return race.EventOfOther(history.Acquire, 1)(e) && e.At > h.TTL*9/10 }
		return race.InOrder(h, short, race.Event(history.Enter, 1), late, race.Event(history.Leave, 1))
	},
}
