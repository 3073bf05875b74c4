package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// What becomes of those who do not ask again and again, but wait for the message that
// a release publishes.

var missedWake = race.Scenario{
	ID:       "missed-wake",
	Race:     "R35",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Needs:    waitsByItself,
	Clients:  func(s race.Settings) []race.Client { return awaiting(s, race.Client{Work: s.Retry}, 1) },
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Sends(2, "SUBSCRIBE"), Do: race.Inject(0, faults.DelayOf(2, 0, s.Retry*2))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Acquire, 2), race.Sends(2, "SUBSCRIBE"), removes(1), race.Applies(2, "SUBSCRIBE"))
	},
}

var SilentCrash = race.Scenario{
	ID:       "silent-crash",
	Race:     "R35B",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    waitsByItself,
	Clients:  func(s race.Settings) []race.Client { return awaiting(s, race.Client{Work: s.TTL / 2}, 1) },
	Script:   crashHolding.Script,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Applies(2, "SUBSCRIBE"), race.Event(history.Crash, 1)) && !race.InOrder(h, removes(1))
	},
}

var herd = race.Scenario{
	ID:        "herd",
	Race:      "R36",
	Settings:  race.StandardWith(func(s *race.Settings) { s.Clients = 4 }),
	Needs:     waitsByItself,
	Clients:   func(s race.Settings) []race.Client { return awaiting(s, race.Client{Work: s.Retry}, 3) },
	Triggered: func(h *history.History) bool { return woken(h) > 1 },
}

// waitsByItself is what the races of waking ask of a lock.
func waitsByItself(p race.Profile) race.Reason {
	switch {
	case p.ZooKeeper:
		return "woken-by-watch"
	case !p.WaitsInLine:
		return "polls"
	}
	return ""
}

// awaiting is a holder and n who wait for it.
func awaiting(s race.Settings, holder race.Client, n int) []race.Client {
	roles := []race.Client{holder}
	for i := range n {
		roles = append(roles, race.Client{
			Start: s.Retry/2 + time.Duration(i)*s.Retry/10, Work: s.Retry / 2,
			Patience: s.Horizon,
		})
	}
	return roles
}

// woken is how many clients are told of c1's release.
func woken(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case removes(1)(e):
			released = true
		case released && e.Kind == history.Enter:
			return n
		case released && e.Kind == history.Push:
			n++
		}
	}
	return n
}
