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

// lateRelease: redis-py before 3.0 and Spring's RedisLockRegistry until 2023 had this
// race. The requests of c1 are frozen from the one that deletes on.
var lateRelease = race.Race{
	ID: "late-release", Code: "R04", Group: "lease",
	Settings: race.StandardWith(func(s *settings) { s.Clients, s.Timeout = 3, race.Seconds(20) }),
	Needs:    needs{race.CheckedRelease},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL*19/20 - s.Retry/100},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
			{Start: s.TTL + s.Retry*13/20, Work: s.Retry},
		}
	},
	Script: func(s settings, _ int) script {
		return script{{On: c1Releases}, {On: sendsDelete, Do: race.Freeze(1)}, {On: c2Enters, Do: race.Thaw(1, 0)}}
	},
	Triggered: race.Sequence(c1Releases, c2Enters, func(e *history.Event) bool {
		return e.Kind == history.Apply && e.Client == 1
	}),
}

// sendsDelete matches the request of c1 that may delete. In a release that checks first, it is the one after the check.
func sendsDelete(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Node != history.Resource && !race.Sends(1, "WATCH", "GET")(e)
}

// sameThread: article 004 uses Thread.getId() as the value; article 003 explains what Redisson adds to it. All requests
// of c1's release are frozen, so that a release that checks first sees c2's lock.
var sameThread = variant(lateRelease, "same-thread", "R12", func(sc *race.Race) {
	sc.Group, sc.Needs = "owner", needs{race.OwnerCheck}
	sc.Clients = but(lateRelease.Clients, func(_ settings, all clients) { all[0].Thread, all[1].Thread = "17", "17" })
	sc.Script = func(settings, int) script {
		return script{{On: c1Releases, Do: race.Freeze(1)}, {On: c2Enters, Do: race.Thaw(1, 0)}}
	}
})

// sameToken: article 002 writes random.nextint() for the token. What is harmed depends on the lock: compare-and-delete
// deletes the other's key; a reentrant lock takes the second client for its owner; and Redlock deletes with the
// clean-up of the refused client, before any client releases.
var sameToken = variant(sameThread, "same-token", "R12B", func(sc *race.Race) {
	sc.Clients = but(lateRelease.Clients, func(_ settings, all clients) { all[0].Token, all[1].Token = "42", "42" })
	takenForOwner := func(e *history.Event) bool { // for c1, while that is inside
		return c2Enters(e) || e.Kind == history.Change && e.Client == 2 && e.Key == client.Key && e.Before != ""
	}
	sc.Triggered = func(h *history.History) bool {
		return lateRelease.Triggered(h) || race.InOrder(h, c1Enters, takenForOwner, c1Leaves)
	}
})

// lateUnlock was found by exhaustive search, see proofs.txt: with one instance of the lock for
// each process, the owner that Redisson draws at its start is that of every later lease, too.
var lateUnlock = race.Race{
	ID: "late-unlock", Code: "S8", Group: "search",
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("delay=%d", race.Quorum(nodes)) },
	Needs:    needs{race.NoSessionOrder, race.NoConnectionOrder},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry, Run: func(a *race.ClientRun) { lockAgain(a, s) }},
			{Start: s.TTL*8/5 + s.Retry/2, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Script: func(s settings, nodes int) script {
		releasing := false
		return script{
			{On: c1Releases, Do: func(*schedule.Stage, *history.Event) { releasing = true }},
			{Each: true, Times: race.Quorum(nodes),
				On: func(e *history.Event) bool { return releasing && sendsDelete(e) },
				Do: injectAs(0,
					func(e *history.Event) simulator.Choice { return faults.DelayOf(1, e.Thread, s.TTL*3/2) })},
		}
	},
	Triggered: func(h *history.History) bool {
		late := 0
		delayed := func(e *history.Event) bool {
			late = e.Msg
			return e.Kind == history.Delay && e.Client == 1
		}
		return race.InOrder(h, c1Releases, delayed, c1Asks, func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Msg == late
		})
	},
}

// lockAgain takes the lock when its first lease must have ended, whatever became of the release, and works longer.
func lockAgain(a *race.ClientRun, s settings) {
	a.AcquireWorkRelease()
	a.Clock().Sleep(s.TTL)
	a.Spec.Work = s.TTL * 3 / 5
	a.AcquireWorkRelease()
}
