package scenarios

import (
	"context"
	"errors"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of a session that ends, and takes its client's
// places with it, while that client believes to hold the lock.

var sessionPause = race.Scenario{
	ID:       "session-pause",
	Race:     "R40",
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    checksOnEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Play: (*race.ClientRun).Wary},
			{Start: s.Retry / 4, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2, Patience: s.Horizon},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry/2, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.Event(history.SessionEnd, 1), race.Event(history.Resume, 1), race.Event(history.Reconnect, 1))
	},
}

var sessionEnds = race.Scenario{
	ID:           "session-ends",
	Race:         "R40B",
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:       race.FixedBudget("expire-session=1"),
	Needs:        onEnsemble,
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
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.SessionEnd, 1))
	},
}

var suspended = race.Scenario{
	ID:       "suspended",
	Race:     "R40C",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    checksOnEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return asksHalfway(s, func(told error) bool { return told == nil })
	},
	Script: func(race.Settings, int) []race.Trigger {
		asked := func(e *history.Event) bool { return race.Event(history.Acquire, 1)(e) && e.Note == client.Checking }
		return []race.Trigger{
			{On: asked, Do: func(*schedule.Stage, *history.Event) {}},
			{On: race.Sends(1, "EXISTS"), Do: race.Inject(0, faults.ExpireSessionOf(1))},
		}
	},
	Triggered: func(h *history.History) bool {
		unanswered := func(e *history.Event) bool {
			return race.Event(history.Refuse, 1)(e) && e.Note != client.Note(lock.ErrNotHeld)
		}
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.SessionEnd, 1), unanswered)
	},
}

var suspendedIgnored = race.Scenario{
	ID:       "suspended-ignored",
	Race:     "R40D",
	Settings: suspended.Settings,
	Budget:   suspended.Budget,
	Needs:    suspended.Needs,
	Clients: func(s race.Settings) []race.Client {
		return asksHalfway(s, func(told error) bool { return !errors.Is(told, lock.ErrNotHeld) })
	},
	Script:    suspended.Script,
	Triggered: suspended.Triggered,
}

// asksHalfway is a client that asks in the middle of its work whether it still has
// the lock, and another that waits. What it is told decides whether it goes on.
func asksHalfway(s race.Settings, goesOn func(told error) bool) []race.Client {
	return []race.Client{
		{Work: s.Retry, Tail: s.Retry * 2, Play: func(a *race.ClientRun) {
			lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
			base, err := a.Read(client.FencingToken(lease))
			a.Clock().Sleep(a.Def.Work)
			var told error
			a.Ask(client.Checking, func(ctx context.Context) error {
				told = lease.(lock.Checker).Check(ctx)
				return told
			})
			if err == nil && goesOn(told) {
				a.Clock().Sleep(a.Def.Tail)
				_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
			}
			a.Record(history.Event{Kind: history.Leave})
			client.Release(a.Client, lease)
		}},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.Horizon},
	}
}

// checksOnEnsemble is what those need in which somebody asks, and another waits.
func checksOnEnsemble(p race.Profile) race.Reason {
	if p.ZooKeeper && !p.Checks {
		return lateCheck.Needs(p)
	}
	return onEnsemble(p)
}
