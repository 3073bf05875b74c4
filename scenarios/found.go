package scenarios

import (
	"fmt"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are told in no article: exhaustive search found them,
// and the sections of proofs.txt hold it to finding them again. Here each has
// the numbers of all the others, so that it can be laid beside them.

var lateAnswer = race.Scenario{
	ID:       "late-answer",
	Race:     "S1",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(5) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs: func(p race.Profile) race.Reason {
		if p.ZooKeeper {
			return race.SessionsPatience
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.CreatesKey(1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Resume, 1), Do: race.Inject(0, simulator.Choice{Verb: simulator.GiveUp, Client: 1})},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.CreatesKey(1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Timeout, 1))
	},
}

var TwoPauses = race.Scenario{
	ID:       "two-pauses",
	Race:     "S2",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=2"),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 3 / 2, Tail: s.Retry},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry * 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Enter, 1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Resume, 1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))},
		}
	},
	Triggered: func(h *history.History) bool {
		pause, resume := race.Event(history.Pause, 1), race.Event(history.Resume, 1)
		return race.InOrder(h, race.Event(history.Enter, 1), pause, race.EventOfOther(history.Acquire, 1), resume, pause, race.EventOfOther(history.Acquire, 1), resume, race.Event(history.Leave, 1))
	},
}

var failoverInStep = race.Scenario{
	ID:       "failover-in-step",
	Race:     "S3",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  lostReply.Clients,
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{
			{On: race.CreatesKey(1), Do: func(*schedule.Stage, *history.Event) {}},
			{On: replicates, Do: race.Inject(0, faults.FailoverOf(1))},
		}
	},
	Triggered: func(h *history.History) bool {
		// were anything forgotten at the failover, it would be another race
		return race.InOrderWithout(h, forgets, race.CreatesKey(1), replicates, failsOver, race.Event(history.Broken, 1), race.EventOfOther(history.Acquire, 1))
	},
}

func replicates(e *history.Event) bool { return e.Kind == history.Replicate }
func failsOver(e *history.Event) bool  { return e.Kind == history.Failover }

var undoneRelease = race.Scenario{
	ID:       "undone-release",
	Race:     "S4",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Needs:    heedless,
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
		return race.InOrder(h, race.Event(history.Released, 1), failsOver, remembers, race.EventOfOther(history.Acquire, 1))
	},
}

// heedless is what scenarios need in which the replica is behind for long.
func heedless(p race.Profile) race.Reason {
	if p.UsesWAIT {
		return "waits-for-replica"
	}
	return ""
}

var quorumFailover = race.Scenario{
	ID:       "quorum-failover",
	Race:     "S5",
	Settings: Failover.Settings,
	Budget:   func(nodes int) string { return "failover=1" + bareMajorityBudget(nodes) },
	Replicas: 1,
	Needs: func(p race.Profile) race.Reason {
		if p.Nodes == 1 {
			return "no-majority"
		}
		return ""
	},
	Clients: losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.FailoverOf(race.Quorum(nodes)))})
	},
	Triggered: Failover.Triggered,
}

var failoverFenced = race.Scenario{
	ID:       "failover-fenced",
	Race:     "S6",
	Settings: Failover.Settings,
	Budget:   Failover.Budget,
	Replicas: 1,
	Guard:    history.Fenced,
	Needs: func(p race.Profile) race.Reason {
		if why := GcPauseFenced.Needs(p); why != "" {
			return why
		}
		return heedless(p)
	},
	Clients:   losing,
	Script:    Failover.Script,
	Triggered: sameNumber,
}

// sameNumber says whether a server forgot c1's lock, and somebody entered with
// c1's fencing token while c1 was inside.
func sameNumber(h *history.History) bool {
	var number uint64
	return race.InOrder(h, func(e *history.Event) bool {
		number = e.Token
		return race.Event(history.Enter, 1)(e)
	}, forgets, func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client != 1 && e.Token == number
	}, race.Event(history.Leave, 1))
}

var lostRelease = race.Scenario{
	ID:       "lost-release",
	Race:     "S7",
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-request=%d", race.Quorum(nodes)) },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 5}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(_ race.Settings, nodes int) []race.Trigger {
		lose := func(st *schedule.Stage, e *history.Event) { st.Inject(0, faults.LoseRequestOf(1, e.Thread)) }
		beats := []race.Trigger{{On: race.Event(history.Release, 1), Do: func(*schedule.Stage, *history.Event) {}}}
		for range race.Quorum(nodes) {
			beats = append(beats, race.Trigger{On: deletes, Do: lose})
		}
		return beats
	},
	Triggered: func(h *history.History) bool {
		steps := []func(*history.Event) bool{race.Event(history.Release, 1)}
		unheard := race.GivenUp(history.LoseRequest, 1)
		for range race.Quorum(h.Nodes) {
			steps = append(steps, unheard)
		}
		return race.InOrder(h, append(steps, race.EventOfOther(history.Acquire, 1))...)
	},
}
