package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// Races of clients in a queue on ZooKeeper: each has a numbered znode, and watches
// those before it.

// watchHerd: the herd effect of the USENIX paper on ZooKeeper, 2010. No verdict names it.
var watchHerd = race.Scenario{
	ID:       "watch-herd",
	Race:     "R36B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 5 }),
	Needs:    needsZooKeeper,
	Clients: func(s race.Settings) []race.Client {
		clients := []race.Client{{Work: s.Retry}}
		for i := range time.Duration(4) {
			clients = append(clients, race.Client{Start: s.Retry * (i + 1) / 5, Work: s.Retry / 10, Patience: s.Horizon})
		}
		return clients
	},
	Triggered: func(h *history.History) bool {
		inLine := 0
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.EventOfOther(history.Acquire, 1)(e):
				inLine++
			case race.EventOfOther(history.Enter, 1)(e), race.EventOfOther(history.Refuse, 1)(e):
				inLine--
			case race.Event(history.Release, 1)(e):
				return inLine == 4
			}
		}
		return false
	},
}

// inLine is overtaken on a lock with a queue.
var inLine = race.Scenario{
	ID:       "in-line",
	Race:     "R37B",
	Settings: race.Standard(),
	Needs:    needsZooKeeper,
	Clients:  func(s race.Settings) []race.Client { return withPatience(s, overtaken.Clients(s)) },
	Triggered: race.Sequence(
		race.Event(history.Enter, 2), race.Event(history.Acquire, 1), race.Event(history.Released, 2),
		race.Event(history.Acquire, 2)),
}

// lostCreate: ZOOKEEPER-1262; Curator has withProtection against it.
var lostCreate = race.Scenario{
	ID:           "lost-create",
	Race:         "R39",
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget:       race.FixedBudget("lose-reply=1"),
	Needs:        needsZooKeeper,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Patience: s.Retry * 3},
			{Start: s.Retry / 2, Work: s.Retry, Patience: s.Retry * 3},
		}
	},
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{{On: race.JoinsQueue(1), Do: race.Inject(0, faults.LoseReplyTo(1, 0))}}
	},
	Triggered: race.Sequence(
		race.JoinsQueue(1), race.Event(history.LoseReply, 1), race.EventOfOther(history.Acquire, 1)),
}

// waiterDies: article 003 says: once notified, the lock is yours.
var waiterDies = race.Scenario{
	ID:       "waiter-dies",
	Race:     "R41",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    needsZooKeeper,
	Clients:  threeInLine,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry*2, faults.ExpireSessionOf(2))}}
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 1),
		race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.SessionEnd, 2),
		race.Event(history.Fire, 3)),
}

// waiterLeaves is waiterDies without any fault: c2 gives up, as Curator's acquire with a
// time limit does.
var waiterLeaves = race.Scenario{
	ID:       "waiter-leaves",
	Race:     "R41B",
	Settings: waiterDies.Settings,
	Needs:    needsZooKeeper,
	Clients: func(s race.Settings) []race.Client {
		clients := threeInLine(s)
		clients[1].Patience = s.Retry * 2
		return clients
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 1),
		race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.Fire, 3),
		race.Event(history.Refuse, 2)),
}

// threeInLine are a holder and two clients that wait, one behind the other.
func threeInLine(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 2},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.TTL * 2},
		{Start: s.Retry * 3 / 5, Work: s.Retry, Patience: s.TTL * 2},
	}
}

// numbersEnd: the overflow of the counter in ZooKeeper's guide, as a server 3.8 really
// behaves.
var numbersEnd = race.Scenario{
	ID:                "numbers-end",
	Race:              "R42",
	Settings:          race.Standard(),
	Needs:             needsZooKeeper,
	SequenceExhausted: true,
	Clients: func(s race.Settings) []race.Client {
		clients := inLine.Clients(s)
		clients[0].Token, clients[1].Token = "a", "b"
		return clients
	},
	Triggered: func(h *history.History) bool {
		last := func(e *history.Event) bool { return race.JoinsQueue(2)(e) && strings.HasSuffix(e.Reply, "-2147483647") }
		return race.InOrder(h, last, race.Event(history.Enter, 2), race.Event(history.Acquire, 1))
	},
}

// withPatience lets all clients wait in the queue for as long as it takes.
func withPatience(s race.Settings, clients []race.Client) []race.Client {
	for i := range clients {
		clients[i].Patience = s.Horizon
	}
	return clients
}
