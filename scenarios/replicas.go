package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// The failover, for those who ask with WAIT how many replicas have heard.

var failoverBehind = race.Scenario{
	ID:       "failover-behind",
	Race:     "R21B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = 200 * time.Millisecond }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag/2, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		inTime := race.InOrder(h, race.CreatesKey(1), replicates, race.Event(history.Enter, 1), failsOver, asks, race.Event(history.Leave, 1))
		return inTime || race.InOrder(h, race.Event(history.Enter, 1), forgets, asks, race.Event(history.Leave, 1))
	},
}

var failoverOther = race.Scenario{
	ID:       "failover-other",
	Race:     "R21C",
	Settings: failoverBehind.Settings,
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 2,
	Needs: func(p race.Profile) race.Reason {
		if p.Nodes > 1 {
			return "no-replica-count"
		}
		return ""
	},
	Clients: losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag/2, faults.FailoverTo(1, 1))}}
	},
	Triggered: func(h *history.History) bool {
		second := func(e *history.Event) bool { return failsOver(e) && e.Replica == 1 }
		return race.InOrder(h, race.Event(history.Enter, 1), second, forgets, asks, race.Event(history.Leave, 1))
	},
}

var replicaGone = race.Scenario{
	ID:       "replica-gone",
	Race:     "R21D",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = time.Hour }),
	Replicas: 1,
	Clients:  race.Calm.Clients,
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, replicates, race.Event(history.Acquire, 1), race.CreatesKey(1), race.EventOfOther(history.Acquire, 1))
	},
}

// The restart, by what a server keeps on disk.

var restartEverySecond = race.Scenario{
	ID:       "restart-everysec",
	Race:     "R23",
	Settings: race.Standard(),
	AOF:      simulator.EverySecond,
	Budget:   Restart.Budget,
	Clients:  losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second/2, faults.RestartOf(race.Quorum(nodes)))})
	},
	Triggered: Restart.Triggered,
}

var restartAlways = race.Scenario{
	ID:       "restart-always",
	Race:     "R23B",
	Settings: race.Standard(),
	AOF:      simulator.Always,
	Budget:   Restart.Budget,
	Clients:  losing,
	Script:   Restart.Script,
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), race.Event(history.Up, 0), asks, race.Event(history.Leave, 1))
	},
}

var restartDelayed = race.Scenario{
	ID:       "restart-delayed",
	Race:     "R23C",
	Settings: race.Standard(),
	Budget:   Restart.Budget,
	Clients:  losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second, faults.RestartAfter(race.Quorum(nodes), s.TTL+s.Retry))})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Up, 0), race.Event(history.Enter, 1), race.Event(history.Down, 0), asks, race.Event(history.Leave, 1))
	},
}
