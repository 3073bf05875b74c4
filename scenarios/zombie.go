package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of a renewal that goes on when its lease is
// over, and comes upon somebody else's. That a daemon which nobody has ended keeps
// its own key for the life of its process is dead-business.

var ZombieShortens = race.Scenario{
	ID:       "zombie-daemon",
	Race:     "R14C",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Pause = 3, race.Seconds(10) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    renews,
	Clients:  zombieCast,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: dies, Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 2), dies, race.Event(history.Pause, 1), race.Event(history.Enter, 2), race.Event(history.Resume, 1), Ticks)
	},
}

var zombieKeeps = race.Scenario{
	ID:       "zombie-keeps",
	Race:     "R14D",
	Settings: ZombieShortens.Settings,
	Budget:   race.FixedBudget("pause=1,crash=1"),
	Needs:    renews,
	Clients:  zombieCast,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(ZombieShortens.Script(s, nodes), race.Trigger{On: race.Event(history.Enter, 2), Do: race.Inject(s.Retry, faults.CrashOf(2))})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 2), dies, race.Event(history.Pause, 1), race.Event(history.Enter, 2), race.Event(history.Crash, 2), race.Event(history.Resume, 1), Ticks, race.Event(history.Acquire, 3))
	},
}

func zombieCast(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 10, Fails: true},
		{Start: s.TTL + s.Retry/2, Work: s.TTL * 19 / 20},
		{Start: s.TTL + s.Retry*5/2, Work: s.Retry},
	}
}

// dies names the exception that ends c1's business.
func dies(e *history.Event) bool {
	return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
}

// ticks names the renewals that c1's process sends.
func Ticks(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Thread > 0
}

var renewalInFlight = race.Scenario{
	ID:       "renewal-in-flight",
	Race:     "R17",
	Settings: race.Standard(),
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL*49/50 - s.Retry/100}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		held := false
		return []race.Trigger{
			{Each: true, On: sentByMain, Do: func(st *schedule.Stage, _ *history.Event) {
				if held {
					st.Inject(s.Latency, simulator.Choice{Verb: simulator.Arrive, Client: 1})
				}
			}},
			{On: Ticks, Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1); held = true }},
			{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) {
				st.After(0, func() { st.Thaw(1); held = false })
			}},
		}
	},
	Triggered: func(h *history.History) bool {
		sent := 0
		return race.InOrderWithout(h, race.Event(history.Leave, 2), func(e *history.Event) bool {
			sent = e.Msg
			return Ticks(e)
		}, race.Event(history.Released, 1), race.Event(history.Enter, 2), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Msg == sent
		})
	},
}

func sentByMain(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Thread == 0
}
