package scenarios

import (
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// splitBrain: Jepsen on Redis with Sentinel, 2013. WAIT bounds it for a lock that looks at
// the answer, such as token-wait; redisson-wait drops the number and falls like the locks
// without WAIT.
var splitBrain = race.Scenario{
	ID:       "split-brain",
	Race:     "R22",
	Settings: failover.Settings,
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  holderAndRival,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Decides(1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))},
			{On: race.AnyEvent(history.Split), Do: race.Inject(s.TTL, heal)},
		}
	},
	Triggered: func(h *history.History) bool {
		split, asks := race.AnyEvent(history.Split), race.OthersSend(1)
		return race.InOrder(h, race.Event(history.Enter, 1), split, race.LosesKey, asks, race.Event(history.Leave, 1)) ||
			race.InOrder(h, race.CreatesKey(1), race.DeletesKey(1), split, asks)
	},
}

// heal ends the split of the first server.
var heal = simulator.Choice{Verb: simulator.Heal, Node: 1}

// splitInStep is splitBrain without lag: only c1's release is lost with the old master.
var splitInStep = race.Scenario{
	ID:       "split-in-step",
	Race:     "R22D",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  holderAndRival,
	Script:   splitBrain.Script,
	Triggered: func(h *history.History) bool {
		// with anything forgotten when the replica takes over, it would be split-brain
		return race.InOrderWithout(h, race.LosesKey,
			race.Event(history.Enter, 1), race.AnyEvent(history.Split), race.Event(history.Release, 1),
			race.OthersSend(1), race.AnyEvent(history.Heal))
	},
}

// splitRenewed is splitBrain for a watchdog.
var splitRenewed = race.Scenario{
	ID:       "split-renewed",
	Race:     "R22B",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Needs:    needsWatchdog,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.TTL, Tail: s.TTL * 3 / 5}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))}}
	},
	Triggered: func(h *history.History) bool {
		var r renewal
		// with anything forgotten when the replica takes over, it would be split-brain
		onOldMaster := func(e *history.Event) bool { return r.applied(e) && e.Node > h.Nodes }
		return race.InOrderWithout(h, race.LosesKey,
			race.Event(history.Enter, 1), race.AnyEvent(history.Split), race.OthersSend(1), onOldMaster,
			race.OthersSend(1), race.Event(history.Leave, 1))
	},
}

// splitBounded: min-replicas-to-write and min-replicas-max-lag of redis.conf.
var splitBounded = race.Scenario{
	ID:          "split-bounded",
	Race:        "R22C",
	Settings:    race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:      race.FixedBudget("split=1"),
	Replicas:    2,
	MinReplicas: 1,
	Needs:       func(p race.Profile) race.Reason { return unless(p.Nodes == 1, "no-single-grant") },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Tail: s.Retry},
			{Start: s.TTL + s.Retry*3, Work: s.TTL / 5, Tail: s.TTL * 2 / 5},
			{Start: s.TTL + s.Retry*4, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Released, 1), Do: race.Inject(0, faults.SplitOf(3, 1, 0))},
			{On: race.AnyEvent(history.Split), Do: race.Inject(s.TTL*2, heal)},
		}
	},
	Triggered: func(h *history.History) bool {
		refuses := func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 3 && e.Node > h.Nodes && strings.Contains(e.Reply, "NOREPLICAS")
		}
		return race.InOrder(h,
			race.AnyEvent(history.Split), race.Event(history.Enter, 2), refuses,
			race.Event(history.Leave, 2), race.AnyEvent(history.Heal))
	},
}
