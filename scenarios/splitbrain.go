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
var splitBrain = race.Race{
	ID: "split-brain", Code: "R22", Group: "servers",
	Settings: failover.Settings,
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  holderAndRival,
	Script: func(s settings, _ int) script {
		return script{
			{On: race.Decides(1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))},
			{On: splits, Do: race.Inject(s.TTL, heal)},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, c1Enters, splits, race.LosesKey, race.OthersSend(1), c1Leaves) ||
			race.InOrder(h, race.CreatesKey(1), race.DeletesKey(1), splits, race.OthersSend(1))
	},
}

// heal ends the split of the first server.
var heal = simulator.Choice{Verb: simulator.Heal, Node: 1}

// splitInStep is splitBrain without lag: only c1's release is lost with the old master.
var splitInStep = variant(splitBrain, "split-in-step", "R22D", func(sc *race.Race) {
	sc.Settings = race.Standard()
	// with anything forgotten when the replica takes over, it would be split-brain
	sc.Triggered = race.SequenceWithout(race.LosesKey, c1Enters, splits, c1Releases, race.OthersSend(1), heals)
})

// splitRenewed is splitBrain for a watchdog.
var splitRenewed = variant(splitInStep, "split-renewed", "R22B", func(sc *race.Race) {
	sc.Needs = needs{race.Renewals}
	sc.Clients = func(s settings) clients {
		return clients{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.TTL, Tail: s.TTL * 3 / 5}}
	}
	sc.Script = func(s settings, _ int) script { return inject(c1Enters, s.Retry, faults.SplitOf(1, 1, 0)) }
	sc.Triggered = func(h *history.History) bool {
		var r renewal
		onOldMaster := func(e *history.Event) bool { return r.applied(e) && e.Node > h.Nodes }
		return race.InOrderWithout(h, race.LosesKey, c1Enters, splits, race.OthersSend(1), onOldMaster,
			race.OthersSend(1), c1Leaves)
	}
})

// splitBounded: min-replicas-to-write and min-replicas-max-lag of redis.conf.
var splitBounded = race.Race{
	ID: "split-bounded", Code: "R22C", Group: "servers",
	Settings:    race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Budget:      race.FixedBudget("split=1"),
	Replicas:    2,
	MinReplicas: 1,
	Needs:       needs{race.SingleGrant},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry, Tail: s.Retry},
			{Start: s.TTL + s.Retry*3, Work: s.TTL / 5, Tail: s.TTL * 2 / 5},
			{Start: s.TTL + s.Retry*4, Work: s.Retry},
		}
	},
	Script: func(s settings, _ int) script {
		return script{
			{On: c1Released, Do: race.Inject(0, faults.SplitOf(3, 1, 0))},
			{On: splits, Do: race.Inject(s.TTL*2, heal)},
		}
	},
	Triggered: func(h *history.History) bool {
		refuses := func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 3 && e.Node > h.Nodes && strings.Contains(e.Reply, "NOREPLICAS")
		}
		return race.InOrder(h, splits, c2Enters, refuses, c2Leaves, heals)
	},
}
