package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// keptGet keeps c2's look at the key on the way until c1 has deleted it.
func KeptGet(s race.Settings) []race.Trigger {
	return []race.Trigger{
		{On: race.Sends(2, "GET"), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
		{On: removes(1), Do: func(st *schedule.Stage, _ *history.Event) { st.After(s.Retry/100, func() { st.Thaw(2) }) }},
	}
}

// findsNothing names the moment at which c2's look finds no key.
func findsNothing(e *history.Event) bool {
	return race.Applies(2, "GET")(e) && e.Reply == "(nil)"
}

var getNil = race.Scenario{
	ID:       "get-nil",
	Race:     "R07",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    takesOver,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry * 2},
			{Start: s.Retry * 3 / 2, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger { return KeptGet(s) },
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Sends(2, "GET"), removes(1), findsNothing, race.Event(history.Acquire, 3))
	},
}

var getNilTaken = race.Scenario{
	ID:       "get-nil-taken",
	Race:     "R07B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    takesOver,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry},
			{Start: s.Retry * 21 / 20, Work: s.Retry * 3},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return append(KeptGet(s),
			race.Trigger{On: findsNothing, Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
			race.Trigger{On: race.Event(history.Enter, 3), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(2) }) }})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), removes(1), findsNothing, race.Event(history.Enter, 3), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 2
		}, race.Event(history.Leave, 3))
	},
}
