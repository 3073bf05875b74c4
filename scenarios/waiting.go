package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Races of clients that do not poll, but wait for the message that a release publishes.

// missedWake: why Redisson subscribes first, tries again, and only then waits.
var missedWake = race.Race{
	ID: "missed-wake", Code: "R35", Group: "waiting",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Needs:    needs{race.NoWatches, race.Queue},
	Clients:  func(s settings) clients { return holderAndWaiters(s, race.ClientSpec{Work: s.Retry}, 1) },
	Script: func(s settings, _ int) script {
		return inject(race.Sends(2, "SUBSCRIBE"), 0, faults.DelayOf(2, 0, s.Retry*2))
	},
	Triggered: race.Sequence(c1Enters, c2Asks, race.Sends(2, "SUBSCRIBE"), race.DeletesKey(1),
		race.Applies(2, "SUBSCRIBE")),
}

// silentCrash: a waiter of Redisson waits for the message or the rest of the lease.
var silentCrash = race.Race{
	ID: "silent-crash", Code: "R35B", Group: "waiting",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needs{race.NoWatches, race.Queue},
	Clients:  func(s settings) clients { return holderAndWaiters(s, race.ClientSpec{Work: s.TTL / 2}, 1) },
	Script:   crashHolding.Script,
	Triggered: func(h *history.History) bool {
		return !race.InOrder(h, race.DeletesKey(1)) &&
			race.InOrder(h, c1Enters, race.Applies(2, "SUBSCRIBE"), c1Crashes)
	},
}

// herd: the thundering herd. No verdict names it.
var herd = race.Race{
	ID: "herd", Code: "R36", Group: "waiting",
	Settings:  race.StandardWith(func(s *settings) { s.Clients = 4 }),
	Needs:     needs{race.NoWatches, race.Queue},
	Clients:   func(s settings) clients { return holderAndWaiters(s, race.ClientSpec{Work: s.Retry}, 3) },
	Triggered: func(h *history.History) bool { return wokenClients(h) > 1 },
}

// holderAndWaiters are a holder and n clients that wait for it.
func holderAndWaiters(s settings, holder race.ClientSpec, n int) clients {
	roles := clients{holder}
	for i := range n {
		roles = append(roles, race.ClientSpec{
			Start: s.Retry/2 + time.Duration(i)*s.Retry/10, Work: s.Retry / 2,
			Patience: s.Horizon,
		})
	}
	return roles
}

// wokenClients returns how many clients receive the message of c1's release.
func wokenClients(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case race.DeletesKey(1)(e):
			released = true
		case released && e.Kind == history.Enter:
			return n
		case released && e.Kind == history.Push:
			n++
		}
	}
	return n
}

// splitVote: redsync before v4.3.0 waited for a fixed time between attempts. With one order of servers for all, votes
// seldom split, since the first server decides; here clients list the servers in different orders, or ask all at once.
var splitVote = race.Race{
	ID: "split-vote", Code: "R29", Group: "majority",
	Settings: race.StandardWith(func(s *settings) {
		s.Clients, s.Retry, s.Horizon = 3, race.Seconds(5), race.Seconds(30)
	}),
	Needs: needs{race.SeveralServers},
	Clients: func(s settings) clients {
		work := s.TTL / 10
		return clients{{Work: work}, {First: 2, Work: work}, {First: 4, Work: work}}
	},
	Budget: race.FixedBudget("delay=200"),
	Script: func(s settings, _ int) script {
		// A client that asks all servers at once reaches the first two of its list sooner.
		return script{{Each: true,
			On: func(e *history.Event) bool {
				return e.Kind == history.Send && e.Thread > 1 && strings.EqualFold(e.Cmd[0], "SET")
			},
			Do: injectAs(0, func(e *history.Event) simulator.Choice {
				return faults.DelayOf(e.Client, e.Thread, 2*s.Latency)
			}),
		}}
	},
	Triggered: votesSplit,
}

// splitVoteSpread is splitVote with its cure, different waiting times.
var splitVoteSpread = variant(splitVote, "split-vote-spread", "R29B", func(sc *race.Race) {
	sc.Clients = but(splitVote.Clients, func(s settings, all clients) {
		for i := range all {
			all[i].Retry = s.Retry + s.Retry*3/10*time.Duration(i)
		}
	})
})

// votesSplit reports whether all clients got votes in the first round and none got the lock.
func votesSplit(h *history.History) bool {
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

// overtaken: the reason for fair locks, which Redisson has, and for the queues of ZooKeeper and etcd.
var overtaken = race.Race{
	ID: "overtaken", Code: "R37", Group: "waiting",
	Settings: race.Standard(),
	Clients: func(s settings) clients {
		return clients{{Start: s.Retry / 2, Work: s.Retry}, {Work: s.Retry * 9 / 10, Run: repeatWithoutRest}}
	},
	Triggered: race.SequenceWithout(c1Enters, c1Refused, c2Released, c2Asks),
}

// repeatWithoutRest acquires, works and releases fifteen times, without a pause.
func repeatWithoutRest(a *race.ClientRun) {
	for range 15 {
		a.AcquireWorkRelease()
	}
}
