package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// takeoverCommands are the commands with which a client begins to take over.
var takeoverCommands = []string{"DEL", "GETSET"}

// bothSeeLapsedStamp lets c1 crash when its key has just been created. c2 and c3 both see
// the lapsed timestamp before either touches the key. Then c2 goes first; the last trigger
// lets c3 follow.
func bothSeeLapsedStamp(last race.Trigger) []race.Trigger {
	return []race.Trigger{
		{On: race.CreatesKeyWithoutTTL(1), Do: race.Inject(0, faults.CrashOf(1))},
		{On: race.Sends(2, takeoverCommands...), Do: race.Freeze(2)},
		{On: race.Sends(3, takeoverCommands...), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Freeze(3)
			st.After(0, func() { st.Thaw(2) })
		}},
		last,
	}
}

// doubleDel: the documentation of SETNX introduces GETSET as the answer to this race, and
// article 000 retells it. With GETSET indeed only one of the two gets in. But the other
// has overwritten the winner's timestamp (WRONG-DEL), and the class of article 000 then
// releases a key with a foreign timestamp and reports success (LIE); overwritten-stamp
// shows the cost.
var doubleDel = race.Scenario{
	ID:       "double-del",
	Race:     "R05",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needsTakeover,
	Clients:  takeoverClients,
	Script: func(race.Settings, int) []race.Trigger {
		return bothSeeLapsedStamp(race.Trigger{On: race.Event(history.Enter, 2), Do: race.Thaw(3, 0)})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h,
			race.Event(history.Crash, 1), race.Sends(3, takeoverCommands...), race.Event(history.Enter, 2),
			race.Applies(3, takeoverCommands...), race.Event(history.Leave, 2))
	},
}

// takeoverClients are c1, which crashes, and two clients that come when its lease is over,
// in whole seconds too.
func takeoverClients(s race.Settings) []race.Client {
	start := s.TTL + s.Retry*11/10
	return []race.Client{
		{Work: s.Retry},
		{Start: start, Work: s.Retry * 3},
		{Start: start + s.Retry, Work: s.Retry},
	}
}

// overwrittenStamp: article 000 calls the overwriting harmless and advises the holder to
// compare its own timestamp before it acts. Together they make the rightful holder give
// up.
var overwrittenStamp = race.Scenario{
	ID:       "overwritten-stamp",
	Race:     "R08",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needsGetset,
	Clients: func(s race.Settings) []race.Client {
		clients := takeoverClients(s)
		clients[1].Run = (*race.ClientRun).CheckThenWrite
		return clients
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return bothSeeLapsedStamp(race.Trigger{On: race.Event(history.Enter, 2), Do: race.Thaw(3, s.Retry/2)})
	},
	Triggered: race.Sequence(
		race.Event(history.Crash, 1), race.Sends(3, "GETSET"), race.Event(history.Enter, 2),
		race.Applies(3, "GETSET"), race.Event(history.Refuse, 3), race.Event(history.Leave, 2)),
}

// sameSecond: article 000 names the precision of timestamps as a danger.
var sameSecond = race.Scenario{
	ID:       "same-second",
	Race:     "R10",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Skew = 3, race.Seconds(12) }),
	Needs:    needsGetset,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 3 / 10},
			{Start: s.Retry / 5, Work: s.Retry / 5, Tail: s.Retry, Skew: s.Skew},
			{Start: s.Retry * 2 / 5, Work: s.Retry / 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Sends(2, "GETSET"), Do: race.Freeze(2)},
			{On: race.Event(history.Enter, 3), Do: race.Thaw(2, 0)},
		}
	},
	Triggered: race.Sequence(
		race.Event(history.Enter, 1), race.Sends(2, "GETSET"), race.DeletesKey(1),
		race.Event(history.Enter, 3), race.Applies(2, "GETSET"), race.Event(history.Leave, 3)),
}
