package scenarios

import (
	"context"
	"errors"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Races of clients in a queue on ZooKeeper: each has a numbered znode, and watches those before it.

// watchHerd: the herd effect of the USENIX paper on ZooKeeper, 2010. No verdict names it.
var watchHerd = race.Race{
	ID: "watch-herd", Code: "R36B", Group: "waiting",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 5 }),
	Needs:    needs{race.OnZooKeeper},
	Clients: func(s settings) clients {
		all := clients{{Work: s.Retry}}
		for i := range time.Duration(4) {
			all = append(all, race.ClientSpec{Start: s.Retry * (i + 1) / 5, Work: s.Retry / 10, Patience: s.Horizon})
		}
		return all
	},
	Triggered: func(h *history.History) bool {
		inLine := 0
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case othersAsk(e):
				inLine++
			case race.EventOfOther(history.Enter, 1)(e), race.EventOfOther(history.Refuse, 1)(e):
				inLine--
			case c1Releases(e):
				return inLine == 4
			}
		}
		return false
	},
}

// inLine is overtaken on a lock with a queue.
var inLine = race.Race{
	ID: "in-line", Code: "R37B", Group: "waiting",
	Settings: race.Standard(),
	Needs:    needs{race.OnZooKeeper},
	Clients: but(overtaken.Clients, func(s settings, all clients) {
		all[0].Patience, all[1].Patience = s.Horizon, s.Horizon
	}),
	Triggered: race.Sequence(c2Enters, c1Asks, c2Released, c2Asks),
}

// lostCreate: ZOOKEEPER-1262; Curator has withProtection against it.
var lostCreate = race.Race{
	ID: "lost-create", Code: "R39", Group: "zookeeper",
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget:       race.FixedBudget("lose-reply=1"),
	Needs:        needs{race.OnZooKeeper},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry, Patience: s.Retry * 3},
			{Start: s.Retry / 2, Work: s.Retry, Patience: s.Retry * 3},
		}
	},
	Script:    func(settings, int) script { return inject(race.JoinsQueue(1), 0, faults.LoseReplyTo(1, 0)) },
	Triggered: race.Sequence(race.JoinsQueue(1), race.Event(history.LoseReply, 1), othersAsk),
}

// waiterDies: article 003 says: once notified, the lock is yours.
var waiterDies = race.Race{
	ID: "waiter-dies", Code: "R41", Group: "zookeeper",
	Settings: race.StandardWith(func(s *settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    needs{race.OnZooKeeper},
	Clients: func(s settings) clients { // a holder, and two that wait, one behind the other
		return clients{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Patience: s.TTL * 2},
			{Start: s.Retry * 3 / 5, Work: s.Retry, Patience: s.TTL * 2},
		}
	},
	Script: func(s settings, _ int) script { return inject(c1Enters, s.Retry*2, faults.ExpireSessionOf(2)) },
	Triggered: race.SequenceWithout(c1Leaves, c1Enters, c3Asks, race.Event(history.SessionEnd, 2),
		race.Event(history.Fire, 3)),
}

// waiterLeaves is waiterDies without any fault: c2 gives up, as Curator's acquire with a time limit does.
var waiterLeaves = variant(waiterDies, "waiter-leaves", "R41B", func(sc *race.Race) {
	sc.Budget, sc.Script = nil, nil
	sc.Clients = but(waiterDies.Clients, func(s settings, all clients) { all[1].Patience = s.Retry * 2 })
	sc.Triggered = race.SequenceWithout(c1Leaves, c1Enters, c3Asks, race.Event(history.Fire, 3), c2Refused)
})

// numbersEnd: the overflow of the counter in ZooKeeper's guide, as a server 3.8 really behaves.
var numbersEnd = variant(inLine, "numbers-end", "R42", func(sc *race.Race) {
	sc.Group, sc.SequenceExhausted = "zookeeper", true
	sc.Clients = but(inLine.Clients, func(_ settings, all clients) { all[0].Token, all[1].Token = "a", "b" })
	last := func(e *history.Event) bool { return race.JoinsQueue(2)(e) && strings.HasSuffix(e.Reply, "-2147483647") }
	sc.Triggered = race.Sequence(last, c2Enters, c1Asks)
})

// Races of a session that ends, with what the server keeps for it, while its client believes that it holds the lock.

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
				client.Ask(a.Client, client.Checking, func(ctx context.Context) error {
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
