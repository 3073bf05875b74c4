package scenarios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// What becomes of an acquisition that takes long, and of one that several servers
// have to agree on.

var QuorumRestart = race.Scenario{
	ID:       "quorum-restart",
	Race:     "R24B",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = 6 * time.Millisecond }),
	Budget:   func(nodes int) string { return fmt.Sprintf("pause=1,restart=1,delay=%d", nodes-race.Quorum(nodes)) },
	Needs: func(p race.Profile) race.Reason {
		if p.StopsAtMajority {
			return "stops-at-majority"
		}
		return severalServers(p)
	},
	Clients: func(s race.Settings) []race.Client {
		cast := losing(s)
		cast[1].Start = s.Latency * 2
		return cast
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		far := nodes - race.Quorum(nodes)
		return []race.Trigger{
			{Each: true,
				On: func(e *history.Event) bool { return far > 0 && abreast(1)(e) && e.Node > race.Quorum(nodes) },
				Do: func(st *schedule.Stage, e *history.Event) {
					far--
					st.Inject(0, faults.DelayOf(1, e.Thread, 4*s.Latency))
				}},
			{On: makesOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry/2, faults.RestartOf(race.Quorum(nodes)))},
		}
	},
	Triggered: func(h *history.History) bool {
		shared := race.InOrder(h, race.CreatesKey(2), removes(2)) && race.InOrder(h, race.CreatesKey(2), race.Event(history.Enter, 1))
		return shared && race.InOrder(h, removes(2), forgets, race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
	},
}

func severalServers(p race.Profile) race.Reason {
	if p.Nodes == 1 {
		return "one-server"
	}
	return ""
}

// abreast names the requests of a client that leave beside others.
func abreast(client int) func(*history.Event) bool {
	return func(e *history.Event) bool { return race.Event(history.Send, client)(e) && e.Thread > 0 }
}

// makesOn is makes on one server.
func makesOn(client, node int) func(*history.Event) bool {
	return func(e *history.Event) bool { return race.CreatesKey(client)(e) && e.Node == node }
}

var SlowAcquire = race.Scenario{
	ID:       "slow-acquire",
	Race:     "R26",
	Settings: race.StandardWith(func(s *race.Settings) { s.Timeout = race.Seconds(15) }),
	Budget:   func(nodes int) string { return fmt.Sprintf("delay=%d", nodes) },
	Clients: func(s race.Settings) []race.Client {
		cast := lateCast(s)
		cast[0].Tail = s.Retry * 9 / 5 // whoever enters early is still inside when c2 begins
		return cast
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		late := 0
		follow, thread := race.FollowRequests(1)
		return []race.Trigger{follow, {Each: true,
			On: func(e *history.Event) bool { return late < nodes && race.CreatesKey(1)(e) },
			Do: func(st *schedule.Stage, e *history.Event) {
				late++
				st.Inject(s.Latency/2, faults.DelayOf(1, thread(e), (s.TTL+s.Retry)/time.Duration(nodes)))
			},
		}}
	},
	Triggered: func(h *history.History) bool {
		var held, until time.Duration // how late the answers are together, and when the last is there
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.Event(history.Acquire, 1)(e):
				held = 0
			case race.Event(history.Delay, 1)(e) && e.Note == "reply":
				held, until = held+e.D, max(until, e.At+e.D)
			case decides(1)(e):
				return held > h.TTL && e.At >= until
			}
		}
		return false
	},
}

// lateCast is for a c1 that is told a second too late: c2 is inside by then, and
// writes before c1 does and leaves after it.
func lateCast(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: (s.TTL + s.Retry) / 2, Work: s.Retry, Tail: s.Retry * 7 / 2},
	}
}

var PauseInFlight = race.Scenario{
	ID:       "pause-in-flight",
	Race:     "R27",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(11) }),
	Budget:   race.FixedBudget("pause=1"),
	Clients:  lateCast,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return []race.Trigger{{On: makesOn(1, nodes), Do: race.Inject(0, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, decides(1), makesOn(1, h.Nodes), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Answer, 1))
	},
}

var ClockDrift = race.Scenario{
	ID:       "clock-drift",
	Race:     "R28",
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{PPM: -5000, Play: func(a *race.ClientRun) { stay(a, s.TTL) }},
			{Start: s.TTL * 124 / 125, Work: s.Retry / 2, Retry: s.TTL / 1000},
		}
	},
	Triggered: func(h *history.History) bool {
		var asked, ahead time.Duration
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.Event(history.Acquire, 1)(e):
				asked, ahead = e.At, e.Skew
			case race.Event(history.Leave, 1)(e):
				// it lost time, less than the lease was long; and somebody asked meanwhile
				return e.Skew < ahead && e.At-asked > h.TTL*9/10 && race.InOrder(h, race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
			}
		}
		return false
	},
}

var ServerDrift = race.Scenario{
	ID:       "server-drift",
	Race:     "R28B",
	Settings: race.Standard(),
	NodePPM:  5000,
	Needs: func(p race.Profile) race.Reason {
		if !p.Expires {
			return "no-server-clock"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		cast := ClockDrift.Clients(s)
		cast[0].PPM = 0
		cast[1].Start = s.TTL * 493 / 500
		return cast
	},
	Triggered: func(h *history.History) bool {
		// a lease of the length that was asked for, or half as much again with a
		// delay, is one on a clock that is right
		short := func(e *history.Event) bool {
			lasts, some := (e.Until-e.At)%(h.TTL/2), h.TTL/1000
			return race.Event(history.Change, 1)(e) && e.After != "" && e.Until != history.Forever && lasts > some && lasts < h.TTL/2-some
		}
		late := func(e *history.Event) bool { return race.EventOfOther(history.Acquire, 1)(e) && e.At > h.TTL*9/10 }
		return race.InOrder(h, short, race.Event(history.Enter, 1), late, race.Event(history.Leave, 1))
	},
}

// stay is a client that is inside for as long as it may: for a lease, by its own
// clock from before it asked, or until the lock itself says that it is over.
func stay(a *race.ClientRun, ttl time.Duration) {
	for {
		end := a.Clock().Now().Add(ttl)
		lease, err := client.Try(a.Client, a.Lock)
		if err != nil {
			a.Clock().Sleep(a.Def.Retry)
			continue
		}
		checker, asks := lease.(lock.Checker)
		for a.Clock().Sleep(ttl * 49 / 50); a.Clock().Now().Before(end); a.Clock().Sleep(ttl / 1000) {
			if asks && checker.Check(context.Background()) != nil {
				break
			}
		}
		a.Record(history.Event{Kind: history.Leave})
		client.Release(a.Client, lease)
		return
	}
}

// It is often told of any three clients that ask five servers at once. Asked in one
// order the first server is a gate, though: who is refused there seldom gets three
// of the rest. The votes split where clients list the servers in different orders,
// as here, or ask all of them at the same time.
var SplitVote = race.Scenario{
	ID:       "split-vote",
	Race:     "R29",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Retry, s.Horizon = 3, race.Seconds(5), race.Seconds(30) }),
	Needs:    severalServers,
	Clients: func(s race.Settings) []race.Client {
		work := s.TTL / 10
		return []race.Client{{Work: work}, {First: 2, Work: work}, {First: 4, Work: work}}
	},
	Budget: race.FixedBudget("delay=200"),
	Script: func(s race.Settings, _ int) []race.Trigger {
		// Whoever asks all servers at once is nearest to those that he lists first.
		return []race.Trigger{{Each: true,
			On: func(e *history.Event) bool {
				return e.Kind == history.Send && e.Thread > 1 && strings.EqualFold(e.Cmd[0], "SET")
			},
			Do: func(st *schedule.Stage, e *history.Event) {
				st.Inject(0, faults.DelayOf(e.Client, e.Thread, 2*s.Latency))
			},
		}}
	},
	Triggered: splitsVote,
}

var splitVoteSpread = race.Scenario{
	ID:       "split-vote-spread",
	Race:     "R29B",
	Settings: SplitVote.Settings,
	Needs:    severalServers,
	Clients: func(s race.Settings) []race.Client {
		cast := SplitVote.Clients(s)
		for i := range cast {
			cast[i].Retry = s.Retry + s.Retry*3/10*time.Duration(i)
		}
		return cast
	},
	Budget:    SplitVote.Budget,
	Script:    SplitVote.Script,
	Triggered: splitsVote,
}

// splitsVote says whether everybody got votes in the first round, and nobody the lock.
func splitsVote(h *history.History) bool {
	voted, refused := map[int]bool{}, map[int]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Change:
			voted[e.Client] = true
		case history.Refuse:
			refused[e.Client] = voted[e.Client]
		case history.Enter:
			return false
		}
		if len(refused) == h.Clients {
			break
		}
	}
	for c := 1; c <= h.Clients; c++ {
		if !refused[c] {
			return false
		}
	}
	return true
}

// What is left on three servers is often called an orphan. Here that word is for a
// key in the name of a process that lives and does not know: nobody is left who could
// know better, so this is BLOCKED, as in crash-holding.
var partialAcquire = race.Scenario{
	ID:       "partial-acquire",
	Race:     "R30",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    severalServers,
	Clients:  crashHolding.Clients,
	Script: func(_ race.Settings, nodes int) []race.Trigger {
		return []race.Trigger{{On: makesOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.CrashOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, decides(1), makesOn(1, race.Quorum(h.Nodes)), race.Event(history.Crash, 1), race.EventOfOther(history.Acquire, 1))
	},
}
