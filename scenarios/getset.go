package scenarios

import (
	"cmp"

	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// getsetNil: the author of article 000 had it in production; the Java class of the article
// still has it.
var getsetNil = race.Scenario{
	ID:       "getset-nil",
	Race:     "R06",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs: func(p race.Profile) race.Reason {
		return cmp.Or(needsGetset(p), unless(p.NeverExpires, "key-gone-with-stamp"))
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
			{On: race.Sends(2, "GETSET"), Do: race.Freeze(2)},
			{On: race.DeletesKey(1), Do: race.Thaw(2, s.Retry/100)},
		}
	},
	Triggered: race.Sequence(race.Sends(2, "GETSET"), race.DeletesKey(1), func(e *history.Event) bool {
		return race.Applies(2, "GETSET")(e) && e.Reply == "(nil)"
	}),
}

// getNil: article 000 discusses what to do when the GET returns nil, and decides for
// SETNX.
var getNil = race.Scenario{
	ID:       "get-nil",
	Race:     "R07",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    needsTakeover,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry * 2},
			{Start: s.Retry * 3 / 2, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger { return delayGet(s) },
	Triggered: race.Sequence(
		race.Event(history.Enter, 1), race.Sends(2, "GET"), race.DeletesKey(1), getReturnsNil,
		race.Event(history.Acquire, 3)),
}

// getNilTaken is getNil with a client that locks between c2's GET and its next command.
var getNilTaken = race.Scenario{
	ID:       "get-nil-taken",
	Race:     "R07B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    needsTakeover,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry},
			{Start: s.Retry * 21 / 20, Work: s.Retry * 3},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return append(delayGet(s),
			race.Trigger{On: getReturnsNil, Do: race.Freeze(2)},
			race.Trigger{On: race.Event(history.Enter, 3), Do: race.Thaw(2, 0)})
	},
	Triggered: race.Sequence(
		race.Event(history.Enter, 1), race.DeletesKey(1), getReturnsNil,
		race.Event(history.Enter, 3), race.Event(history.Apply, 2), race.Event(history.Leave, 3)),
}

// delayGet holds c2's GET back until c1 has deleted the key.
func delayGet(s race.Settings) []race.Trigger {
	return []race.Trigger{
		{On: race.Sends(2, "GET"), Do: race.Freeze(2)},
		{On: race.DeletesKey(1), Do: race.Thaw(2, s.Retry/100)},
	}
}

// getReturnsNil matches the moment at which c2's GET finds no key.
func getReturnsNil(e *history.Event) bool {
	return race.Applies(2, "GET")(e) && e.Reply == "(nil)"
}
