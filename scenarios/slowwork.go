package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// slowWork: article 002 names the time-out as what the TTL lock does not solve.
var slowWork = race.Scenario{
	ID:           "slow-work",
	Race:         "R03",
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
