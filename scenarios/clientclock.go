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
	Settings:     race.StandardWith(func(s *settings) { s.Skew = race.Seconds(15) }),
	Clients: func(s settings) clients {
		all := holderAndRival(s)
		all[1].Skew = s.Skew
		return all
	},
	Triggered: race.Sequence(c1Enters, func(e *history.Event) bool { return c2Asks(e) && e.Skew > 0 }, c1Leaves),
}

// clientBehind: the Go client rueidis sets the end of a lease as an instant (PXAT) by
// default.
var clientBehind = variant(clientSkew, "client-behind", "R09B", func(sc *race.Scenario) {
	sc.Clients = func(s settings) clients {
		all := holderAndRival(s)
		all[0].Skew = -s.Skew
		return all
	}
	entersBehind := func(e *history.Event) bool { return c1Enters(e) && e.Skew < 0 }
	sc.Triggered = race.Sequence(entersBehind, othersAsk, c1Leaves)
})
