package scenarios

import (
	"cmp"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// failover: the documentation of Redis gives these steps as the reason for Redlock.
// Redisson 3.12.5 sends WAIT with its scripts and is said to survive it. The watchdog here
// sends none and falls; redisson-wait does and falls too, since it ignores the answer,
// which is 0. It survives failover-behind, where the replica catches up while WAIT waits.
var failover = race.Scenario{
	ID:       "failover",
	Race:     "R21",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  holderAndRival,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Decides(1), Do: race.Inject(time.Second, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return forgottenInside(h) ||
			race.InOrder(h, race.CreatesKey(1), race.DeletesKey(1), race.AnyEvent(history.Failover), race.OthersSend(1))
	},
}

// failoverBehind is failover with an ordinary lag, for locks that use WAIT.
var failoverBehind = race.Scenario{
	ID:       "failover-behind",
	Race:     "R21B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = 200 * time.Millisecond }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  holderAndRival,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag/2, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return forgottenInside(h) || race.InOrder(h,
			race.CreatesKey(1), race.AnyEvent(history.Replicate), race.Event(history.Enter, 1),
			race.AnyEvent(history.Failover), race.OthersSend(1), race.Event(history.Leave, 1))
	},
}

// failoverOther: the documentation of WAIT says that the choice of the replica is best
// effort.
var failoverOther = race.Scenario{
	ID:       "failover-other",
	Race:     "R21C",
	Settings: failoverBehind.Settings,
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 2,
	Needs:    func(p race.Profile) race.Reason { return unless(p.Nodes == 1, "no-replica-count") },
	Clients:  holderAndRival,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag/2, faults.FailoverTo(1, 1))}}
	},
	Triggered: func(h *history.History) bool {
		second := func(e *history.Event) bool { return race.AnyEvent(history.Failover)(e) && e.Replica == 1 }
		return race.InOrder(h,
			race.Event(history.Enter, 1), second, race.LosesKey, race.OthersSend(1),
			race.Event(history.Leave, 1))
	},
}

// failoverInStep was found by exhaustive search, see proofs.txt.
var failoverInStep = race.Scenario{
	ID:       "failover-in-step",
	Race:     "S3",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  lostReply.Clients,
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{
			{On: race.CreatesKey(1)},
			{On: race.AnyEvent(history.Replicate), Do: race.Inject(0, faults.FailoverOf(1))},
		}
	},
	Triggered: func(h *history.History) bool {
		// were anything forgotten at the failover, it would be another race
		return race.InOrderWithout(h, race.LosesKey,
			race.CreatesKey(1), race.AnyEvent(history.Replicate), race.AnyEvent(history.Failover),
			race.Event(history.Broken, 1), race.EventOfOther(history.Acquire, 1))
	},
}

// failoverFenced was found by exhaustive search, see proofs.txt. Kleppmann demands a store
// with consensus for the counter.
var failoverFenced = race.Scenario{
	ID:       "failover-fenced",
	Race:     "S6",
	Settings: failover.Settings,
	Budget:   failover.Budget,
	Replicas: 1,
	Guard:    history.Fenced,
	Needs: func(p race.Profile) race.Reason {
		return cmp.Or(needsFencingCounter(p), needsNoWait(p))
	},
	Clients:   holderAndRival,
	Script:    failover.Script,
	Triggered: sameFencingToken,
}

// sameFencingToken reports whether a server lost c1's lock and another client entered with c1's
// fencing token while c1 was inside.
func sameFencingToken(h *history.History) bool {
	var number uint64
	return race.InOrder(h, func(e *history.Event) bool {
		number = e.Token
		return race.Event(history.Enter, 1)(e)
	}, race.LosesKey, func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client != 1 && e.Token == number
	}, race.Event(history.Leave, 1))
}

// quorumFailover was found by exhaustive search, see proofs.txt. Article 003 speaks of
// five Redis clusters, which allows it.
var quorumFailover = race.Scenario{
	ID:       "quorum-failover",
	Race:     "S5",
	Settings: failover.Settings,
	Budget:   func(nodes int) string { return "failover=1" + loseBeyondMajorityBudget(nodes) },
	Replicas: 1,
	Needs:    func(p race.Profile) race.Reason { return unless(p.Nodes > 1, "no-majority") },
	Clients:  holderAndRival,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(loseBeyondMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.FailoverOf(race.Quorum(nodes)))})
	},
	Triggered: failover.Triggered,
}

// undoneRelease was found by exhaustive search, see proofs.txt.
var undoneRelease = race.Scenario{
	ID:       "undone-release",
	Race:     "S4",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Needs:    needsNoWait,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 3 / 5}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Released, 1), Do: race.Inject(s.Retry/10, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		remembers := func(e *history.Event) bool {
			return e.Kind == history.Change && e.Client == 0 && e.Key == client.Key && e.Before == "" && e.After != ""
		}
		return race.InOrder(h,
			race.Event(history.Released, 1), race.AnyEvent(history.Failover), remembers,
			race.EventOfOther(history.Acquire, 1))
	},
}
