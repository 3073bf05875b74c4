package scenarios

import (
	"cmp"
	"fmt"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// restart: Kleppmann's third objection to Redlock.
var restart = race.Scenario{
	ID:       "restart",
	Race:     "R24",
	Settings: race.Standard(),
	Budget: func(nodes int) string {
		return "restart=1" + loseBeyondMajorityBudget(nodes)
	},
	Clients: holderAndRival,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(loseBeyondMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second, faults.RestartOf(race.Quorum(nodes)))})
	},
	Triggered: forgottenInside,
}

// loseBeyondMajority loses c1's first requests to the servers beyond the smallest
// majority, so that c1 holds a bare majority.
func loseBeyondMajority(nodes int) []race.Trigger {
	if nodes == 1 {
		return nil
	}
	return []race.Trigger{{Each: true, Times: nodes - race.Quorum(nodes),
		On: func(e *history.Event) bool {
			return e.Kind == history.Send && e.Client == 1 && e.Node > race.Quorum(nodes)
		},
		Do: func(st *schedule.Stage, e *history.Event) {
			st.Inject(0, faults.LoseRequestOf(1, e.Thread))
		},
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
var restartEverysec = race.Scenario{
	ID:       "restart-everysec",
	Race:     "R23",
	Settings: race.Standard(),
	AOF:      simulator.EverySecond,
	Budget:   restart.Budget,
	Clients:  holderAndRival,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(loseBeyondMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second/2, faults.RestartOf(race.Quorum(nodes)))})
	},
	Triggered: restart.Triggered,
}

// restartAlways: the same with appendfsync always.
var restartAlways = race.Scenario{
	ID:       "restart-always",
	Race:     "R23B",
	Settings: race.Standard(),
	AOF:      simulator.Always,
	Budget:   restart.Budget,
	Clients:  holderAndRival,
	Script:   restart.Script,
	Triggered: race.SequenceWithout(race.LosesKey,
		race.Event(history.Enter, 1), race.Event(history.Up, 0), race.OthersSend(1),
		race.Event(history.Leave, 1)),
}

// restartDelayed: the delayed restarts that the documentation of Redlock recommends.
var restartDelayed = race.Scenario{
	ID:       "restart-delayed",
	Race:     "R23C",
	Settings: race.Standard(),
	Budget:   restart.Budget,
	Clients:  holderAndRival,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		restart := faults.RestartAfter(race.Quorum(nodes), s.TTL+s.Retry)
		return append(loseBeyondMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second, restart)})
	},
	Triggered: race.SequenceWithout(race.Event(history.Up, 0),
		race.Event(history.Enter, 1), race.Event(history.Down, 0), race.OthersSend(1),
		race.Event(history.Leave, 1)),
}

// quorumRestart: redsync issue 186. c1 holds a bare majority because c2 was faster at the
// other servers; no message is lost.
var quorumRestart = race.Scenario{
	ID:       "quorum-restart",
	Race:     "R24B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = 6 * time.Millisecond }),
	Budget:   func(nodes int) string { return fmt.Sprintf("pause=1,restart=1,delay=%d", nodes-race.Quorum(nodes)) },
	Needs: func(p race.Profile) race.Reason {
		return cmp.Or(unless(!p.StopsAtMajority, "stops-at-majority"), needsSeveralServers(p))
	},
	Clients: func(s race.Settings) []race.Client {
		clients := holderAndRival(s)
		clients[1].Start = s.Latency * 2
		return clients
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return []race.Trigger{
			{Each: true, Times: nodes - race.Quorum(nodes),
				On: func(e *history.Event) bool { return sendsInParallel(1)(e) && e.Node > race.Quorum(nodes) },
				Do: func(st *schedule.Stage, e *history.Event) {
					st.Inject(0, faults.DelayOf(1, e.Thread, 4*s.Latency))
				}},
			{On: race.CreatesKeyOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry/2, faults.RestartOf(race.Quorum(nodes)))},
		}
	},
	Triggered: func(h *history.History) bool {
		shared := race.InOrder(h, race.CreatesKey(2), race.DeletesKey(2)) &&
			race.InOrder(h, race.CreatesKey(2), race.Event(history.Enter, 1))
		return shared && race.InOrder(h,
			race.DeletesKey(2), race.LosesKey, race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
	},
}

// sendsInParallel matches requests that a client sends in parallel with others.
func sendsInParallel(client int) race.Pattern {
	return func(e *history.Event) bool { return race.Event(history.Send, client)(e) && e.Thread > 0 }
}
