package scenarios

import (
	"fmt"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// lateUnlock was found by exhaustive search, see proofs.txt: with one instance of the lock for
// each process, the owner that Redisson draws at its start is that of every later lease, too.
var lateUnlock = race.Scenario{
	ID:       "late-unlock",
	Race:     "S8",
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("delay=%d", race.Quorum(nodes)) },
	Needs:    needs("session-in-order", func(p race.Profile) bool { return !p.ZooKeeper }),
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
				Do: func(st *schedule.Stage, e *history.Event) {
					st.Inject(0, faults.DelayOf(1, e.Thread, s.TTL*3/2))
				}},
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

// lockAgain is a client that takes the lock again when its first lease must have ended,
// whatever became of the release, and then works for longer.
func lockAgain(a *race.ClientRun, s settings) {
	a.AcquireWorkRelease()
	a.Clock().Sleep(s.TTL)
	a.Spec.Work = s.TTL * 3 / 5
	a.AcquireWorkRelease()
}
