package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of locks that take over what looks lapsed: of
// two that have read the same old stamp, one is late.

// takesOver is what they need.
func takesOver(p race.Profile) race.Reason {
	if !p.UsesGETSET && !p.Deletes {
		return "no-takeover"
	}
	return ""
}

// swaps is what those need that are about GETSET.
func swaps(p race.Profile) race.Reason {
	if !p.UsesGETSET {
		return "no-getset"
	}
	return ""
}

// takeover are the commands by which a client begins to take over.
var takeover = []string{"DEL", "GETSET"}

// bothSee is the script in which c1 dies with its key just made, and c2 and c3 have
// both seen the lapsed stamp before either has touched it. Then c2 goes first; the
// last beat lets c3 follow.
func bothSee(last race.Trigger) []race.Trigger {
	return []race.Trigger{
		{On: LeavesBare, Do: race.Inject(0, faults.CrashOf(1))},
		{On: race.Sends(2, takeover...), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
		{On: race.Sends(3, takeover...), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Freeze(3)
			st.After(0, func() { st.Thaw(2) })
		}},
		last,
	}
}

// GETSET is told as the answer to this race, and of exclusion that is true: one of the
// two gets in. But the other has written its stamp into the winner's key (WRONG-DEL),
// and the class of article 000 then releases a key with a foreign stamp and reports
// that it was its own (LIE). overwritten-stamp shows what that costs.
var doubleDel = race.Scenario{
	ID:       "double-del",
	Race:     "R05",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    takesOver,
	Clients:  heirs,
	Script: func(race.Settings, int) []race.Trigger {
		return bothSee(race.Trigger{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(3) }) }})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Crash, 1), race.Sends(3, takeover...), race.Event(history.Enter, 2), race.Applies(3, takeover...), race.Event(history.Leave, 2))
	},
}

// heirs are c1, which dies, and two that come when its lease is over, counted in
// seconds or less.
func heirs(s race.Settings) []race.Client {
	start := s.TTL + s.Retry*11/10
	return []race.Client{
		{Work: s.Retry},
		{Start: start, Work: s.Retry * 3},
		{Start: start + s.Retry, Work: s.Retry},
	}
}

var overwrittenStamp = race.Scenario{
	ID:       "overwritten-stamp",
	Race:     "R08",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    swaps,
	Clients: func(s race.Settings) []race.Client {
		cast := heirs(s)
		cast[1].Play = (*race.ClientRun).Wary
		return cast
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return bothSee(race.Trigger{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(s.Retry/2, func() { st.Thaw(3) }) }})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Crash, 1), race.Sends(3, "GETSET"), race.Event(history.Enter, 2), race.Applies(3, "GETSET"), race.Event(history.Refuse, 3), race.Event(history.Leave, 2))
	},
}

var sameSecond = race.Scenario{
	ID:       "same-second",
	Race:     "R10",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Skew = 3, race.Seconds(12) }),
	Needs:    swaps,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 3 / 10},
			{Start: s.Retry / 5, Work: s.Retry / 5, Tail: s.Retry, Skew: s.Skew},
			{Start: s.Retry * 2 / 5, Work: s.Retry / 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Sends(2, "GETSET"), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
			{On: race.Event(history.Enter, 3), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(2) }) }},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Sends(2, "GETSET"), removes(1), race.Event(history.Enter, 3), race.Applies(2, "GETSET"), race.Event(history.Leave, 3))
	},
}
