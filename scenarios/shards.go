package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// shardList: article 004 locks through a pool that finds the server of a key by consistent hashing. The
// numbers: the lab's key is on the first of two servers and on the third of three, so that it
// moves when c2's list gains n3, one second after c1 has entered.
var shardList = race.Race{
	ID: "shard-list", Code: "R49", Group: "use",
	Settings:  race.Standard(),
	Budget:    race.FixedBudget("server-list=1"),
	Needs:     needs{race.ShardList},
	Clients:   holderAndRival,
	Script:    func(s settings, _ int) script { return inject(c1Enters, s.Retry, faults.ServerListOf(2, 3)) },
	Triggered: func(h *history.History) bool { return twoServers(h, listChanges) },
}

// rollingDeploy: a new version of a service is rolled out with a new list. c1 is an old process, c2 a new one.
var rollingDeploy = variant(shardList, "rolling-deploy", "R49B", func(sc *race.Race) {
	sc.Budget, sc.Script = nil, nil
	sc.Clients = but(holderAndRival, func(_ settings, all clients) { all[1].List = 3 })
	sc.Triggered = func(h *history.History) bool { return twoServers(h, c2Asks) }
})

func listChanges(e *history.Event) bool { return e.Kind == history.Fault && e.Fault == "server-list" }

// twoServers reports whether c1 was inside with the lock's key on one server when, after an event that
// matches next, another client asked another server for it.
func twoServers(h *history.History, next race.Pattern) bool {
	at := 0
	creates := func(e *history.Event) bool {
		if !race.CreatesKey(1)(e) {
			return false
		}
		at = e.Node
		return true
	}
	elsewhere := func(e *history.Event) bool { return race.OthersSend(1)(e) && e.Node != at }
	return race.InOrder(h, creates, c1Enters, next, elsewhere, c1Leaves)
}
