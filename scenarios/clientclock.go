package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// clientSkew: article 000 asks to keep the clocks of all servers in step. redis-py
// compared timestamps until 2014.
var clientSkew = race.Scenario{
	ID:           "client-skew",
	Race:         "R09",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Skew = race.Seconds(15) }),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL * 2 / 5, Skew: s.Skew},
		}
	},
	Triggered: race.Sequence(race.Event(history.Enter, 1), func(e *history.Event) bool {
		return e.Kind == history.Acquire && e.Client == 2 && e.Skew > 0
	}, race.Event(history.Leave, 1)),
}

// clientBehind: the Go client rueidis sets the end of a lease as an instant (PXAT) by
// default.
var clientBehind = race.Scenario{
	ID:           "client-behind",
	Race:         "R09B",
	AllowsShared: true,
	Settings:     clientSkew.Settings,
	Clients: func(s race.Settings) []race.Client {
		clients := holderAndRival(s)
		clients[0].Skew = -s.Skew
		return clients
	},
	Triggered: race.Sequence(func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client == 1 && e.Skew < 0
	}, race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1)),
}
