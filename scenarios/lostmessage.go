package scenarios

import (
	"errors"
	"fmt"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// lostReply: the same on ZooKeeper is ZOOKEEPER-1262. Redlock is said to be blocked here; it is not, since a failed
// attempt releases on every server, also where no answer came.
var lostReply = race.Race{
	ID: "lost-reply", Code: "R32", Group: "replies",
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget:       func(nodes int) string { return fmt.Sprintf("lose-reply=%d", race.Quorum(nodes)) },
	Clients:      func(s settings) clients { return clients{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}} },
	Script: func(s settings, nodes int) script {
		follow, thread := race.FollowRequests(1)
		return script{follow, {Each: true, Times: race.Quorum(nodes),
			On: func(e *history.Event) bool { return e.Kind == history.Change && e.Client == 1 && e.Before == "" },
			Do: injectAs(s.Latency/2,
				func(e *history.Event) simulator.Choice { return faults.LoseReplyTo(1, thread(e)) }),
		}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, append(unheard(h, history.LoseReply), othersAsk)...)
	},
}

// unheard are the events by which c1 gives up on as many lost messages as make a majority.
func unheard(h *history.History, k history.EventKind) []race.Pattern {
	return slices.Repeat([]race.Pattern{race.GivesUpOn(k, 1)}, h.Quorum())
}

// lostRelease was found by exhaustive search, see proofs.txt.
var lostRelease = race.Race{
	ID: "lost-release", Code: "S7", Group: "search",
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-request=%d", race.Quorum(nodes)) },
	Clients:  func(s settings) clients { return clients{{Work: s.TTL / 5}, {Start: s.Retry / 2, Work: s.Retry}} },
	Script: func(_ settings, nodes int) script {
		lose := script{{On: sendsDelete, Do: injectAs(0, func(e *history.Event) simulator.Choice {
			return faults.LoseRequestOf(1, e.Thread)
		})}}
		return append(script{{On: c1Releases}}, slices.Repeat(lose, race.Quorum(nodes))...)
	},
	Triggered: func(h *history.History) bool {
		lost := unheard(h, history.LoseRequest)
		return race.InOrder(h, slices.Concat([]race.Pattern{c1Releases}, lost, []race.Pattern{othersAsk})...)
	},
}

// releaseAgain: Redisson made unlock idempotent in its newer versions.
var releaseAgain = race.Race{
	ID: "release-again", Code: "R33", Group: "replies",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-reply=%d", race.Quorum(nodes)) },
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL * 3 / 10, Run: releaseUntilAnswered},
			{Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry},
			{Start: s.Retry * 4 / 5, Work: s.Retry},
		}
	},
	Script: func(s settings, nodes int) script {
		releasing := false
		follow, thread := race.FollowRequests(1)
		return script{
			follow,
			{On: c1Releases, Each: true, Do: func(*schedule.Stage, *history.Event) { releasing = true }},
			{Each: true, Times: race.Quorum(nodes),
				On: func(e *history.Event) bool { return releasing && race.DeletesKey(1)(e) },
				Do: injectAs(s.Latency/2,
					func(e *history.Event) simulator.Choice { return faults.LoseReplyTo(1, thread(e)) })},
		}
	},
	Triggered: func(h *history.History) bool {
		again := func(e *history.Event) bool { return c1Releases(e) || sendsDelete(e) } // or the lock itself does
		lost := unheard(h, history.LoseReply)
		return race.InOrder(h, slices.Concat([]race.Pattern{c1Releases}, lost, []race.Pattern{again, c2Leaves})...) &&
			race.InOrder(h, race.Event(history.LoseReply, 1), c2Enters, again, c2Leaves)
	},
}

// releaseUntilAnswered is a client that releases until the server has answered.
func releaseUntilAnswered(a *race.ClientRun) {
	lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
	client.Work(a.Client, lease, a.Spec.Section())
	for {
		err := client.Release(a.Client, lease)
		if err == nil || errors.Is(err, lock.ErrNotHeld) {
			return
		}
		a.Clock().Sleep(a.Spec.Retry)
	}
}
