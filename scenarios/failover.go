package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// failover: the documentation of Redis gives these steps as the reason for Redlock. Redisson 3.12.5 sends WAIT with its
// scripts and is said to survive it. The watchdog here sends none and falls; redisson-wait does and falls too, since it
// ignores the answer, which is 0. It survives failover-behind, where the replica catches up while WAIT waits.
var failover = race.Race{
	ID: "failover", Code: "R21", Group: "servers",
	Settings: race.StandardWith(func(s *settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  holderAndRival,
	Script:   func(s settings, _ int) script { return inject(race.Decides(1), time.Second, faults.FailoverOf(1)) },
	Triggered: func(h *history.History) bool {
		return forgottenInside(h) ||
			race.InOrder(h, race.CreatesKey(1), race.DeletesKey(1), failsOver, race.OthersSend(1))
	},
}

// failoverBehind is failover with an ordinary lag, for locks that use WAIT.
var failoverBehind = variant(failover, "failover-behind", "R21B", func(sc *race.Race) {
	sc.Settings.Lag = 200 * time.Millisecond
	sc.Script = func(s settings, _ int) script { return inject(c1Enters, s.Lag/2, faults.FailoverOf(1)) }
	sc.Triggered = func(h *history.History) bool {
		return forgottenInside(h) || race.InOrder(h, race.CreatesKey(1), replicates, c1Enters, failsOver,
			race.OthersSend(1), c1Leaves)
	}
})

// failoverOther: the documentation of WAIT says that the choice of the replica is best effort.
var failoverOther = variant(failoverBehind, "failover-other", "R21C", func(sc *race.Race) {
	sc.Replicas = 2
	sc.Needs = needs{race.ReplicaCount}
	sc.Script = func(s settings, _ int) script { return inject(c1Enters, s.Lag/2, faults.FailoverTo(1, 1)) }
	second := func(e *history.Event) bool { return failsOver(e) && e.Replica == 1 }
	sc.Triggered = race.Sequence(c1Enters, second, race.LosesKey, race.OthersSend(1), c1Leaves)
})

// failoverInStep was found by exhaustive search, see proofs.txt.
var failoverInStep = variant(failover, "failover-in-step", "S3", func(sc *race.Race) {
	sc.Group, sc.Settings, sc.Clients, sc.Needs = "search", race.Standard(), lostReply.Clients, needs{race.Replicated}
	sc.Script = func(settings, int) script {
		return script{{On: race.CreatesKey(1)}, {On: replicates, Do: race.Inject(0, faults.FailoverOf(1))}}
	}
	// were anything forgotten at the failover, it would be another race
	sc.Triggered = race.SequenceWithout(race.LosesKey, race.CreatesKey(1), replicates, failsOver,
		race.Event(history.Broken, 1), othersAsk)
})

// failoverFenced was found by exhaustive search, see proofs.txt. Kleppmann demands consensus for the counter.
var failoverFenced = variant(failover, "failover-fenced", "S6", func(sc *race.Race) {
	sc.Group, sc.Guard, sc.Needs = "search", history.Fenced, needs{race.FencingCounter, race.LeaseNumber, race.NoWait}
	sc.Triggered = sameFencingToken
})

// sameFencingToken reports whether a server lost c1's lock and another entered with c1's token while c1 was inside.
func sameFencingToken(h *history.History) bool {
	var number uint64
	return race.InOrder(h, func(e *history.Event) bool {
		number = e.Token
		return c1Enters(e)
	}, race.LosesKey, func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client != 1 && e.Token == number
	}, c1Leaves)
}

// quorumFailover was found by exhaustive search: see proofs.txt. Article 003 has five Redis clusters, allowing it.
var quorumFailover = variant(failover, "quorum-failover", "S5", func(sc *race.Race) {
	sc.Group, sc.Budget = "search", func(nodes int) string { return "failover=1" + loseBeyondMajorityBudget(nodes) }
	sc.Needs = needs{race.Majority}
	sc.Script = func(s settings, nodes int) script { return onBareMajority(nodes, s.Retry, faults.FailoverOf) }
})

// undoneRelease was found by exhaustive search, see proofs.txt.
var undoneRelease = variant(failover, "undone-release", "S4", func(sc *race.Race) {
	sc.Group, sc.Needs = "search", needs{race.NoWait, race.Replicated}
	sc.Clients = func(s settings) clients { return clients{{Work: s.TTL * 3 / 5}, {Start: s.Retry / 2, Work: s.Retry}} }
	sc.Script = func(s settings, _ int) script { return inject(c1Released, s.Retry/10, faults.FailoverOf(1)) }
	remembers := func(e *history.Event) bool { return race.CreatesKey(0)(e) && e.After != "" }
	sc.Triggered = race.Sequence(c1Released, failsOver, remembers, othersAsk)
})

// What races share in which a server loses the lock.

// holderAndRival are the clients: c2 writes before c1 does and is inside when c1 leaves.
func holderAndRival(s settings) clients {
	return clients{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL * 2 / 5}}
}

// forgottenInside reports whether a server lost c1's lock while c1 was inside, and another client asked for it then.
func forgottenInside(h *history.History) bool {
	return race.InOrder(h, c1Enters, race.LosesKey, race.OthersSend(1), c1Leaves)
}

// replicaGone: the price of requiring acknowledgements, as Redisson does from 3.17.0 on.
var replicaGone = race.Race{
	ID: "replica-gone", Code: "R21D", Group: "servers",
	Settings:  race.StandardWith(func(s *settings) { s.Lag = time.Hour }),
	Replicas:  1,
	Clients:   race.Calm.Clients,
	Triggered: race.SequenceWithout(replicates, c1Asks, race.CreatesKey(1), othersAsk),
}

// scriptCacheLost: Redisson 3.48.0 and redsync v4.5.1 fixed it.
var scriptCacheLost = race.Race{
	ID: "script-cache-lost", Code: "R48", Group: "use",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Needs:    needs{race.EVALSHA},
	Clients:  func(s settings) clients { return clients{{Work: s.TTL * 3 / 10}, {Start: s.Retry / 2, Work: s.Retry}} },
	Script:   func(s settings, _ int) script { return inject(c1Enters, s.Retry, faults.FailoverOf(1)) },
	Triggered: func(h *history.History) bool {
		unknown := func(e *history.Event) bool {
			return race.Applies(1, "EVALSHA")(e) && strings.HasPrefix(e.Reply, "(error) NOSCRIPT")
		}
		return race.InOrderWithout(h, race.LosesKey, c1Enters, failsOver, c1Releases, unknown, othersAsk)
	},
}

// splitBrain: Jepsen on Redis with Sentinel, 2013. WAIT bounds it for a lock that looks at the answer, such as
// token-wait; redisson-wait drops the number and falls like the locks without WAIT.
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
			return e.Kind == history.Apply && e.Client == 3 && e.Node > h.Nodes &&
				strings.Contains(e.Reply, "NOREPLICAS")
		}
		return race.InOrder(h, splits, c2Enters, refuses, c2Leaves, heals)
	},
}
