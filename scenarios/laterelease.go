package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var LateRelease = race.Scenario{
	ID:       "late-release",
	Race:     "R04",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Timeout = 3, race.Seconds(20) }),
	Needs: func(p race.Profile) race.Reason {
		if !p.ChecksOwner {
			return "release-without-check"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL*19/20 - s.Retry/100},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
			{Start: s.TTL + s.Retry*13/20, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Release, 1), Do: func(*schedule.Stage, *history.Event) {}},
			{On: deletes, Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1) }},
			{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(1) }) }},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Release, 1), race.Event(history.Enter, 2), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 1
		})
	},
}

// deletes names the request of c1 that may delete: in a release that looks first,
// the one after the look.
func deletes(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Node != history.Resource && !race.Sends(1, "WATCH", "GET")(e)
}
