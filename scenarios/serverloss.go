package scenarios

import (
	"fmt"
	"slices"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// losing is the cast of the races in which a server forgets: c1 works long
// enough to be overtaken, c2 writes before it and is inside when it leaves.
func losing(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 2},
		{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL * 2 / 5},
	}
}

// Redisson 3.12.5 is told to stand this, since it sends WAIT with its scripts. The
// watchdog here is without WAIT, and falls; redisson-wait is that version, and falls
// as well: the answer is 0, and nobody looks at it. It stands in failover-behind, where
// the replica hears of the lock while WAIT waits.
var Failover = race.Scenario{
	ID:       "failover",
	Race:     "R21",
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: decides(1), Do: race.Inject(time.Second, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), forgets, asks, race.Event(history.Leave, 1)) || race.InOrder(h, race.CreatesKey(1), removes(1), failsOver, asks)
	},
}

// asks names a request of somebody else than c1 to a server.
func asks(e *history.Event) bool {
	return e.Kind == history.Send && e.Client != 1 && e.Node != history.Resource
}

// decides names the moment at which a client has the lock, or is refused it.
func decides(client int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Client == client && (e.Kind == history.Enter || e.Kind == history.Refuse)
	}
}

// forgets names the moment at which a server loses a lock that was held on it.
func forgets(e *history.Event) bool {
	return e.Kind == history.Change && e.Client == 0 && e.Key == client.Key && e.After == ""
}

var Restart = race.Scenario{
	ID:       "restart",
	Race:     "R24",
	Settings: race.Standard(),
	Budget: func(nodes int) string {
		return "restart=1" + bareMajorityBudget(nodes)
	},
	Clients: losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second, faults.RestartOf(race.Quorum(nodes)))})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), forgets, asks, race.Event(history.Leave, 1))
	},
}

// bareMajority loses c1's first requests to the servers beyond the smallest
// majority.
func BareMajority(nodes int) []race.Trigger {
	if nodes == 1 {
		return nil
	}
	left := nodes - race.Quorum(nodes)
	return []race.Trigger{{Each: true,
		On: func(e *history.Event) bool {
			return e.Kind == history.Send && e.Client == 1 && e.Node > race.Quorum(nodes) && left > 0
		},
		Do: func(st *schedule.Stage, e *history.Event) {
			left--
			st.Inject(0, faults.LoseRequestOf(1, e.Thread))
		},
	}}
}

func bareMajorityBudget(nodes int) string {
	if nodes == 1 {
		return ""
	}
	return fmt.Sprintf(",lose-request=%d", nodes-race.Quorum(nodes))
}

var clockJump = race.Scenario{
	ID:       "clock-jump",
	Race:     "R25",
	Settings: race.StandardWith(func(s *race.Settings) { s.Jump = race.Seconds(11) }),
	Budget: func(nodes int) string {
		return "node-clock=1,client-clock=1" + bareMajorityBudget(nodes)
	},
	Clients: losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes), race.Trigger{On: race.Event(history.Enter, 1), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Inject(time.Second, faults.NodeClockOf(race.Quorum(nodes), s.Jump))
			st.Inject(time.Second, faults.ClientClockOf(2, s.Jump))
		}})
	},
	Triggered: func(h *history.History) bool {
		server := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Node > 0 && e.D > h.TTL }
		client := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Client == 2 && e.D > h.TTL }
		return race.InOrder(h, race.Event(history.Enter, 1), server, client, asks, race.Event(history.Leave, 1))
	},
}

// Redlock is told to be blocked here like the others. It is not, since a failed
// attempt releases on every server, also where it heard nothing: what the servers did
// unheard is taken back at once.
var lostReply = race.Scenario{
	ID:           "lost-reply",
	Race:         "R32",
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget: func(nodes int) string {
		return fmt.Sprintf("lose-reply=%d", race.Quorum(nodes))
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		lost := 0
		follow, thread := race.FollowRequests(1)
		return []race.Trigger{follow, {Each: true,
			On: func(e *history.Event) bool {
				return lost < race.Quorum(nodes) && e.Kind == history.Change && e.Client == 1 && e.Before == ""
			},
			Do: func(st *schedule.Stage, e *history.Event) {
				lost++
				st.Inject(s.Latency/2, faults.LoseReplyTo(1, thread(e)))
			},
		}}
	},
	Triggered: func(h *history.History) bool {
		unheard := []func(*history.Event) bool{race.GivenUp(history.LoseReply, 1)}
		return race.InOrder(h, append(slices.Repeat(unheard, race.Quorum(h.Nodes)), race.EventOfOther(history.Acquire, 1))...)
	},
}
