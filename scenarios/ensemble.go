package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// The races of this file are those of clients that stand in line at a ZooKeeper:
// each has a numbered znode there, and hears of those before it by watches. What is
// told of their sessions is in session.go.

var watchHerd = race.Scenario{
	ID:       "watch-herd",
	Race:     "R36B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 5 }),
	Needs:    onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		cast := []race.Client{{Work: s.Retry}}
		for i := range time.Duration(4) {
			cast = append(cast, race.Client{Start: s.Retry * (i + 1) / 5, Work: s.Retry / 10, Patience: s.Horizon})
		}
		return cast
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

// wakings is how many watches of others fire from c1's release on.
func Wakings(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		e := &h.Events[i]
		released = released || race.Event(history.Release, 1)(e)
		if released && race.EventOfOther(history.Fire, 1)(e) {
			n++
		}
	}
	return n
}

var inLine = race.Scenario{
	ID:       "in-line",
	Race:     "R37B",
	Settings: race.Standard(),
	Needs:    onEnsemble,
	Clients:  func(s race.Settings) []race.Client { return patiently(s, overtaken.Clients(s)) },
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 2), race.Event(history.Acquire, 1), race.Event(history.Released, 2), race.Event(history.Acquire, 2))
	},
}

var lostCreate = race.Scenario{
	ID:           "lost-create",
	Race:         "R39",
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget:       race.FixedBudget("lose-reply=1"),
	Needs:        onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Patience: s.Retry * 3},
			{Start: s.Retry / 2, Work: s.Retry, Patience: s.Retry * 3},
		}
	},
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{{On: race.JoinsQueue(1), Do: race.Inject(0, faults.LoseReplyTo(1, 0))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.JoinsQueue(1), race.Event(history.LoseReply, 1), race.EventOfOther(history.Acquire, 1))
	},
}

var WaiterDies = race.Scenario{
	ID:       "waiter-dies",
	Race:     "R41",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    onEnsemble,
	Clients:  ThreeInLine,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry*2, faults.ExpireSessionOf(2))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.SessionEnd, 2), race.Event(history.Fire, 3))
	},
}

// threeInLine is a holder and two who wait, one behind the other.
func ThreeInLine(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 2},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.TTL * 2},
		{Start: s.Retry * 3 / 5, Work: s.Retry, Patience: s.TTL * 2},
	}
}

var waiterLeaves = race.Scenario{
	ID:       "waiter-leaves",
	Race:     "R41B",
	Settings: WaiterDies.Settings,
	Needs:    onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		cast := ThreeInLine(s)
		cast[1].Patience = s.Retry * 2
		return cast
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.Fire, 3), race.Event(history.Refuse, 2))
	},
}

var numbersEnd = race.Scenario{
	ID:                "numbers-end",
	Race:              "R42",
	Settings:          race.Standard(),
	Needs:             onEnsemble,
	SequenceExhausted: true,
	Clients: func(s race.Settings) []race.Client {
		cast := inLine.Clients(s)
		cast[0].Token, cast[1].Token = "a", "b"
		return cast
	},
	Triggered: func(h *history.History) bool {
		last := func(e *history.Event) bool { return race.JoinsQueue(2)(e) && strings.HasSuffix(e.Reply, "-2147483647") }
		return race.InOrder(h, last, race.Event(history.Enter, 2), race.Event(history.Acquire, 1))
	},
}

// patiently has everybody of a cast wait in line for as long as it takes.
func patiently(s race.Settings, cast []race.Client) []race.Client {
	for i := range cast {
		cast[i].Patience = s.Horizon
	}
	return cast
}

// onEnsemble is what the races of this file and of session.go need.
func onEnsemble(p race.Profile) race.Reason {
	if !p.ZooKeeper {
		return "not-on-zookeeper"
	}
	return ""
}
