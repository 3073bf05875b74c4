package scenarios

import (
	"fmt"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// restart: Kleppmann's third objection to Redlock.
var restart = race.Race{
	ID: "restart", Code: "R24", Group: "servers",
	Settings:  race.Standard(),
	Budget:    func(nodes int) string { return "restart=1" + loseBeyondMajorityBudget(nodes) },
	Clients:   holderAndRival,
	Script:    func(_ settings, nodes int) script { return onBareMajority(nodes, time.Second, faults.RestartOf) },
	Triggered: forgottenInside,
}

// onBareMajority is the script of a fault of the last server of the smallest majority, some time after c1 has entered.
func onBareMajority(nodes int, d time.Duration, fault func(node int) simulator.Choice) script {
	return append(loseBeyondMajority(nodes), inject(c1Enters, d, fault(race.Quorum(nodes)))...)
}

// loseBeyondMajority loses c1's first requests to the servers beyond the smallest majority, so that c1 holds just that.
func loseBeyondMajority(nodes int) script {
	if nodes == 1 {
		return nil
	}
	return script{{Each: true, Times: nodes - race.Quorum(nodes),
		On: func(e *history.Event) bool { return race.Event(history.Send, 1)(e) && e.Node > race.Quorum(nodes) },
		Do: injectAs(0, func(e *history.Event) simulator.Choice { return faults.LoseRequestOf(1, e.Thread) }),
	}}
}

// loseBeyondMajorityBudget returns the faults of loseBeyondMajority, to be appended to a budget.
func loseBeyondMajorityBudget(nodes int) string {
	if nodes == 1 {
		return ""
	}
	return fmt.Sprintf(",lose-request=%d", nodes-race.Quorum(nodes))
}

// restartEverysec: the documentation of Redis on appendfsync everysec.
var restartEverysec = variant(restart, "restart-everysec", "R23", func(sc *race.Race) {
	sc.AOF = simulator.EverySecond
	sc.Script = func(_ settings, nodes int) script { return onBareMajority(nodes, time.Second/2, faults.RestartOf) }
})

// restartAlways: the same with appendfsync always.
var restartAlways = variant(restart, "restart-always", "R23B", func(sc *race.Race) {
	sc.AOF = simulator.Always
	kept := race.SequenceWithout(race.LosesKey, c1Enters, race.Event(history.Up, 0), race.OthersSend(1), c1Leaves)
	committed := race.Sequence(c1Enters, comesCommitted, race.OthersSend(1), c1Leaves)
	sc.Triggered = func(h *history.History) bool { return kept(h) || committed(h) }
})

// comesCommitted matches the moment at which a database is back with all commits, without locks of sessions.
func comesCommitted(e *history.Event) bool {
	return race.Event(history.Up, 0)(e) && e.Note == "with what was committed"
}

// restartDelayed: the delayed restarts that the documentation of Redlock recommends.
var restartDelayed = variant(restart, "restart-delayed", "R23C", func(sc *race.Race) {
	sc.Script = func(s settings, nodes int) script {
		late := func(node int) simulator.Choice { return faults.RestartAfter(node, s.TTL+s.Retry) }
		return onBareMajority(nodes, time.Second, late)
	}
	sc.Triggered = race.SequenceWithout(race.Event(history.Up, 0), c1Enters, race.Event(history.Down, 0),
		race.OthersSend(1), c1Leaves)
})

// quorumRestart: redsync issue 186. c1 has a bare majority since c2 was faster at the other servers; nothing is lost.
var quorumRestart = race.Race{
	ID: "quorum-restart", Code: "R24B", Group: "servers",
	Settings: race.StandardWith(func(s *settings) { s.Pause = 6 * time.Millisecond }),
	Budget:   func(nodes int) string { return fmt.Sprintf("pause=1,restart=1,delay=%d", nodes-race.Quorum(nodes)) },
	Needs:    needs{race.AsksAllServers, race.SeveralServers},
	Clients:  but(holderAndRival, func(s settings, all clients) { all[1].Start = s.Latency * 2 }),
	Script: func(s settings, nodes int) script {
		return script{
			{Each: true, Times: nodes - race.Quorum(nodes),
				On: func(e *history.Event) bool { return race.SendsBeside(1)(e) && e.Node > race.Quorum(nodes) },
				Do: injectAs(0,
					func(e *history.Event) simulator.Choice { return faults.DelayOf(1, e.Thread, 4*s.Latency) })},
			{On: race.CreatesKeyOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: c1Enters, Do: race.Inject(s.Retry/2, faults.RestartOf(race.Quorum(nodes)))},
		}
	},
	Triggered: func(h *history.History) bool {
		shared := race.InOrder(h, race.CreatesKey(2), race.DeletesKey(2)) &&
			race.InOrder(h, race.CreatesKey(2), c1Enters)
		return shared && race.InOrder(h, race.DeletesKey(2), race.LosesKey, othersAsk, c1Leaves)
	},
}
