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

// Races of a ZooKeeper session that ends, and with it its client's znodes, while the
// client believes that it holds the lock.

// sessionPause: Curator's technical note 10.
var sessionPause = race.Scenario{
	ID:       "session-pause",
	Race:     "R40",
	Settings: gcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needsZooKeeperCheck,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Run: (*race.ClientRun).CheckThenWrite},
			{Start: s.Retry / 4, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2, Patience: s.Horizon},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry/2, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 1),
		race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.Event(history.SessionEnd, 1),
		race.Event(history.Resume, 1), race.Event(history.Reconnect, 1)),
}

// sessionEnds: why Curator's documentation asks for a ConnectionStateListener.
var sessionEnds = race.Scenario{
	ID:           "session-ends",
	Race:         "R40B",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:       race.FixedBudget("expire-session=1"),
	Needs:        needsZooKeeper,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 4},
			{Start: s.Retry / 2, Work: s.Retry * 2, Patience: s.Horizon},
			{Start: s.Retry * 3 / 5, Work: s.Retry * 2, Patience: s.Horizon},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.ExpireSessionOf(1))}}
	},
	Triggered: race.SequenceWithout(race.Event(history.Leave, 1),
		race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1),
		race.Event(history.SessionEnd, 1)),
}

// suspended: Curator's documentation on SUSPENDED, obeyed.
var suspended = race.Scenario{
	ID:       "suspended",
	Race:     "R40C",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    needsZooKeeperCheck,
	Clients: func(s race.Settings) []race.Client {
		return checksHalfway(s, func(answer error) bool { return answer == nil })
	},
	Script: func(race.Settings, int) []race.Trigger {
		asked := func(e *history.Event) bool { return race.Event(history.Acquire, 1)(e) && e.Note == client.Checking }
		return []race.Trigger{
			{On: asked},
			{On: race.Sends(1, "EXISTS"), Do: race.Inject(0, faults.ExpireSessionOf(1))},
		}
	},
	Triggered: func(h *history.History) bool {
		unanswered := func(e *history.Event) bool {
			return race.Event(history.Refuse, 1)(e) && e.Note != client.Note(lock.ErrNotHeld)
		}
		return race.InOrderWithout(h, race.Event(history.Leave, 1),
			race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1),
			race.Event(history.SessionEnd, 1), unanswered)
	},
}

// suspendedIgnored: the same, ignored.
var suspendedIgnored = race.Scenario{
	ID:       "suspended-ignored",
	Race:     "R40D",
	Settings: suspended.Settings,
	Budget:   suspended.Budget,
	Needs:    suspended.Needs,
	Clients: func(s race.Settings) []race.Client {
		return checksHalfway(s, func(answer error) bool { return !errors.Is(answer, lock.ErrNotHeld) })
	},
	Script:    suspended.Script,
	Triggered: suspended.Triggered,
}

// checksHalfway is a client that checks its lock in the middle of its work, and another
// that waits. goesOn decides by the answer whether the first one goes on.
func checksHalfway(s race.Settings, goesOn func(answer error) bool) []race.Client {
	return []race.Client{
		{Work: s.Retry, Tail: s.Retry * 2, Run: func(a *race.ClientRun) {
			lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
			base, err := a.Read(client.FencingToken(lease))
			a.Clock().Sleep(a.Spec.Work)
			var answer error
			a.Ask(client.Checking, func(ctx context.Context) error {
				answer = lease.(lock.Checker).Check(ctx)
				return answer
			})
			if err == nil && goesOn(answer) {
				a.Clock().Sleep(a.Spec.Tail)
				_ = a.Write(base, client.FencingToken(lease)) // a refusal is recorded by the resource
			}
			a.Record(history.Event{Kind: history.Leave})
			client.Release(a.Client, lease)
		}},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.Horizon},
	}
}
