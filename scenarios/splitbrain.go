package scenarios

import (
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// WAIT is said to bound this. It does for who looks at its answer: token-wait does
// not believe in a lock that no replica has. Redisson 3.12.5 sends WAIT and drops the
// number, so redisson-wait falls like the locks that ask nobody.
var splitBrain = race.Scenario{
	ID:       "split-brain",
	Race:     "R22",
	Settings: Failover.Settings,
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: decides(1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))}, {On: splits, Do: race.Inject(s.TTL, heal)}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), splits, forgets, asks, race.Event(history.Leave, 1)) || race.InOrder(h, race.CreatesKey(1), removes(1), splits, asks)
	},
}

// heal ends the split of the first server.
var heal = simulator.Choice{Verb: simulator.Heal, Node: 1}

func splits(e *history.Event) bool { return e.Kind == history.Split }
func heals(e *history.Event) bool  { return e.Kind == history.Heal }

var splitInStep = race.Scenario{
	ID:       "split-in-step",
	Race:     "R22D",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  losing,
	Script:   splitBrain.Script,
	Triggered: func(h *history.History) bool {
		// were anything forgotten when the replica takes over, it would be split-brain
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), splits, race.Event(history.Release, 1), asks, heals)
	},
}

var splitRenewed = race.Scenario{
	ID:       "split-renewed",
	Race:     "R22B",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.TTL, Tail: s.TTL * 3 / 5}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))}}
	},
	Triggered: func(h *history.History) bool {
		var r renewal
		// were anything forgotten when the replica takes over, it would be split-brain
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), splits, asks, func(e *history.Event) bool { return r.applied(e) && e.Node > h.Nodes }, asks, race.Event(history.Leave, 1))
	},
}

var splitBounded = race.Scenario{
	ID:          "split-bounded",
	Race:        "R22C",
	Settings:    race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:      race.FixedBudget("split=1"),
	Replicas:    2,
	MinReplicas: 1,
	Needs: func(p race.Profile) race.Reason {
		if p.Nodes > 1 {
			return "no-single-grant"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Tail: s.Retry},
			{Start: s.TTL + s.Retry*3, Work: s.TTL / 5, Tail: s.TTL * 2 / 5},
			{Start: s.TTL + s.Retry*4, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Released, 1), Do: race.Inject(0, faults.SplitOf(3, 1, 0))}, {On: splits, Do: race.Inject(s.TTL*2, heal)}}
	},
	Triggered: func(h *history.History) bool {
		refuses := func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 3 && e.Node > h.Nodes && strings.Contains(e.Reply, "NOREPLICAS")
		}
		return race.InOrder(h, splits, race.Event(history.Enter, 2), refuses, race.Event(history.Leave, 2), heals)
	},
}
