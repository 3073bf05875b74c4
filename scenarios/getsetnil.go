package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var getsetNil = race.Scenario{
	ID:       "getset-nil",
	Race:     "R06",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs: func(p race.Profile) race.Reason {
		if why := swaps(p); why != "" {
			return why
		}
		if !p.NeverExpires {
			return "key-gone-with-stamp"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL + s.Retry*13/10},
			{Start: s.Retry / 10, Work: s.Retry},
			{Start: s.TTL + s.Retry*16/10, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Sends(2, "GETSET"), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
			{On: removes(1), Do: func(st *schedule.Stage, _ *history.Event) { st.After(s.Retry/100, func() { st.Thaw(2) }) }},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Sends(2, "GETSET"), removes(1), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 2 && e.Cmd[0] == "GETSET" && e.Reply == "(nil)"
		})
	},
}

// removes names the moment at which a client's command has deleted the lock.
func removes(c int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Change && e.Client == c && e.Key == client.Key && e.After == ""
	}
}
