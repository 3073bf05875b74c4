package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// getsetNil: the author of article 000 had it in production; the Java class of the article
// still has it.
var getsetNil = race.Scenario{
	ID:       "getset-nil",
	Race:     "R06",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Needs:    both(needsGetset, needs("key-gone-with-stamp", func(p race.Profile) bool { return p.NeverExpires })),
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL + s.Retry*13/10},
			{Start: s.Retry / 10, Work: s.Retry},
			{Start: s.TTL + s.Retry*16/10, Work: s.Retry},
		}
	},
	Script: func(s settings, _ int) script { return delayed("GETSET", s) },
	Triggered: race.Sequence(race.Sends(2, "GETSET"), race.DeletesKey(1), func(e *history.Event) bool {
		return race.Applies(2, "GETSET")(e) && e.Reply == "(nil)"
	}),
}

// getNil: article 000 discusses what to do when the GET returns nil, and decides for
// SETNX.
var getNil = race.Scenario{
	ID:       "get-nil",
	Race:     "R07",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Needs:    needsTakeover,
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
var getNilTaken = variant(getNil, "get-nil-taken", "R07B", func(sc *race.Scenario) {
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

// getReturnsNil matches the moment at which c2's GET finds no key.
func getReturnsNil(e *history.Event) bool {
	return race.Applies(2, "GET")(e) && e.Reply == "(nil)"
}
