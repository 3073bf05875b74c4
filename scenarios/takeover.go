package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// takeoverCommands are the commands with which a client begins to take over.
var takeoverCommands = []string{"DEL", "GETSET"}

// bothSeeLapsedStamp lets c1 crash when its key has just been created. c2 and c3 both see the lapsed timestamp before
// either touches the key. Then c2 goes first, and c3 follows d after c2 has entered.
func bothSeeLapsedStamp(d time.Duration) script {
	return script{
		{On: race.CreatesKeyWithoutTTL(1), Do: race.Inject(0, faults.CrashOf(1))},
		{On: race.Sends(2, takeoverCommands...), Do: race.Freeze(2)},
		{On: race.Sends(3, takeoverCommands...), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Freeze(3)
			st.After(0, func() { st.Thaw(2) })
		}},
		{On: c2Enters, Do: race.Thaw(3, d)},
	}
}

// doubleDel: SETNX's documentation introduces GETSET as the answer to this race, and article 000 retells it. With
// GETSET only one of the two gets in. But the other has overwritten the winner's timestamp (WRONG-DEL), and article
// 000's class then releases a key with a foreign timestamp and reports success (LIE); overwritten-stamp shows the cost.
var doubleDel = race.Race{
	ID: "double-del", Code: "R05", Group: "lease",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needs{race.Takeover},
	Clients: func(s settings) clients { // c1 crashes; two come when its lease is over, in whole seconds too
		start := s.TTL + s.Retry*11/10
		return clients{{Work: s.Retry}, {Start: start, Work: s.Retry * 3}, {Start: start + s.Retry, Work: s.Retry}}
	},
	Script: func(settings, int) script { return bothSeeLapsedStamp(0) },
	Triggered: race.Sequence(c1Crashes, race.Sends(3, takeoverCommands...), c2Enters,
		race.Applies(3, takeoverCommands...), c2Leaves),
}

// overwrittenStamp: article 000 calls the overwriting harmless and advises the holder to compare its own timestamp
// before it acts. Together they make the rightful holder give up.
var overwrittenStamp = variant(doubleDel, "overwritten-stamp", "R08", func(sc *race.Race) {
	sc.Group, sc.Needs = "takeover", needs{race.GETSET}
	sc.Clients = but(doubleDel.Clients, func(_ settings, all clients) { all[1].Run = (*race.ClientRun).CheckThenWrite })
	sc.Script = func(s settings, _ int) script { return bothSeeLapsedStamp(s.Retry / 2) }
	sc.Triggered = race.Sequence(c1Crashes, race.Sends(3, "GETSET"), c2Enters, race.Applies(3, "GETSET"),
		race.Event(history.Refuse, 3), c2Leaves)
})

// sameSecond: article 000 names the precision of timestamps as a danger.
var sameSecond = race.Race{
	ID: "same-second", Code: "R10", Group: "clientclock",
	Settings: race.StandardWith(func(s *settings) { s.Clients, s.Skew = 3, race.Seconds(12) }),
	Needs:    needs{race.GETSET},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry * 3 / 10},
			{Start: s.Retry / 5, Work: s.Retry / 5, Tail: s.Retry, Skew: s.Skew},
			{Start: s.Retry * 2 / 5, Work: s.Retry / 2},
		}
	},
	Script: func(s settings, _ int) script {
		return script{{On: race.Sends(2, "GETSET"), Do: race.Freeze(2)}, {On: c3Enters, Do: race.Thaw(2, 0)}}
	},
	Triggered: race.Sequence(c1Enters, race.Sends(2, "GETSET"), race.DeletesKey(1), c3Enters,
		race.Applies(2, "GETSET"), race.Event(history.Leave, 3)),
}

// getsetNil: the author of article 000 had it in production; the Java class of the article still has it.
var getsetNil = race.Race{
	ID: "getset-nil", Code: "R06", Group: "takeover",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Needs:    needs{race.GETSET, race.NoTTL},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL + s.Retry*13/10},
			{Start: s.Retry / 10, Work: s.Retry},
			{Start: s.TTL + s.Retry*16/10, Work: s.Retry},
		}
	},
	Script:    func(s settings, _ int) script { return delayed("GETSET", s) },
	Triggered: race.Sequence(race.Sends(2, "GETSET"), race.DeletesKey(1), findsNothing("GETSET")),
}

// getNil: article 000 discusses what to do when the GET returns nil, and decides for SETNX.
var getNil = race.Race{
	ID: "get-nil", Code: "R07", Group: "takeover",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Needs:    needs{race.Takeover},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry * 2},
			{Start: s.Retry * 3 / 2, Work: s.Retry},
		}
	},
	Script:    func(s settings, _ int) script { return delayed("GET", s) },
	Triggered: race.Sequence(c1Enters, race.Sends(2, "GET"), race.DeletesKey(1), getReturnsNil, c3Asks),
}

// getNilTaken is getNil with a client that locks between c2's GET and its next command.
var getNilTaken = variant(getNil, "get-nil-taken", "R07B", func(sc *race.Race) {
	sc.Clients = func(s settings) clients {
		return clients{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry},
			{Start: s.Retry * 21 / 20, Work: s.Retry * 3},
		}
	}
	sc.Script = func(s settings, nodes int) script {
		return append(getNil.Script(s, nodes), script{
			{On: getReturnsNil, Do: race.Freeze(2)},
			{On: c3Enters, Do: race.Thaw(2, 0)},
		}...)
	}
	sc.Triggered = race.Sequence(c1Enters, race.DeletesKey(1), getReturnsNil, c3Enters, race.Event(history.Apply, 2),
		race.Event(history.Leave, 3))
})

// delayed holds a command of c2 back until c1 has deleted the key.
func delayed(command string, s settings) script {
	return script{
		{On: race.Sends(2, command), Do: race.Freeze(2)},
		{On: race.DeletesKey(1), Do: race.Thaw(2, s.Retry/100)},
	}
}

// findsNothing matches the moment at which a command of c2 finds no key.
func findsNothing(command string) race.Pattern {
	return func(e *history.Event) bool { return race.Applies(2, command)(e) && e.Reply == "(nil)" }
}

var getReturnsNil = findsNothing("GET")
