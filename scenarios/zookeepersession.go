package scenarios

import (
	"context"
	"errors"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Races of a session that ends, and with it what the server keeps for it, while its client
// believes that it holds the lock.

// sessionPause: Curator's technical note 10.
var sessionPause = race.Race{
	ID: "session-pause", Code: "R40", Group: "zookeeper",
	Settings: gcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needs{race.OnZooKeeper, race.Checkable},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry, Run: (*race.ClientRun).CheckThenWrite},
			{Start: s.Retry / 4, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2, Patience: s.Horizon},
		}
	},
	Script: func(s settings, _ int) script { return inject(c1Enters, s.Retry/2, faults.PauseOf(1, s.Pause)) },
	Triggered: race.SequenceWithout(c1Leaves, c1Enters, c1Pauses, race.Event(history.SessionEnd, 1), c1Resumes,
		race.Event(history.Reconnect, 1)),
}

// sessionEnds: why Curator's documentation asks for a ConnectionStateListener. In a database an administrator ends it:
// KILL, pg_terminate_backend.
var sessionEnds = race.Race{
	ID: "session-ends", Code: "R40B", Group: "zookeeper",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Budget:       race.FixedBudget("expire-session=1"),
	Needs:        needs{race.Session},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry * 4},
			{Start: s.Retry / 2, Work: s.Retry * 2, Patience: s.Horizon},
			{Start: s.Retry * 3 / 5, Work: s.Retry * 2, Patience: s.Horizon},
		}
	},
	Script:    func(s settings, _ int) script { return inject(c1Enters, s.Retry, faults.ExpireSessionOf(1)) },
	Triggered: race.SequenceWithout(c1Leaves, c1Enters, othersAsk, race.Event(history.SessionEnd, 1)),
}

// suspended: Curator's documentation on SUSPENDED, obeyed.
var suspended = race.Race{
	ID: "suspended", Code: "R40C", Group: "zookeeper",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    needs{race.OnZooKeeper, race.Checkable},
	Clients:  func(s settings) clients { return checksHalfway(s, func(answer error) bool { return answer == nil }) },
	Script: func(settings, int) script {
		asked := func(e *history.Event) bool { return c1Asks(e) && e.Note == client.Checking }
		return script{{On: asked}, {On: race.Sends(1, "EXISTS"), Do: race.Inject(0, faults.ExpireSessionOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		unanswered := func(e *history.Event) bool { return c1Refused(e) && e.Note != client.Note(lock.ErrNotHeld) }
		return race.InOrderWithout(h, c1Leaves, c1Enters, othersAsk, race.Event(history.SessionEnd, 1), unanswered)
	},
}

// suspendedIgnored: the same, ignored.
var suspendedIgnored = variant(suspended, "suspended-ignored", "R40D", func(sc *race.Race) {
	sc.Clients = func(s settings) clients {
		return checksHalfway(s, func(answer error) bool { return !errors.Is(answer, lock.ErrNotHeld) })
	}
})

// checksHalfway is a client that checks its lock in the middle of its work, and another
// that waits. goesOn decides by the answer whether the first one goes on.
func checksHalfway(s settings, goesOn func(answer error) bool) clients {
	return clients{
		{Work: s.Retry, Tail: s.Retry * 2, Run: func(a *race.ClientRun) {
			a.Update(func(lease lock.Lease, read error) bool {
				a.Clock().Sleep(a.Spec.Work)
				var answer error
				a.Ask(client.Checking, func(ctx context.Context) error {
					answer = lease.(lock.Checker).Check(ctx)
					return answer
				})
				if read != nil || !goesOn(answer) {
					return false
				}
				a.Clock().Sleep(a.Spec.Tail)
				return true
			})
		}},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.Horizon},
	}
}
