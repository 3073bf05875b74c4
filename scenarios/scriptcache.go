package scenarios

import (
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// scriptCacheLost: Redisson 3.48.0 and redsync v4.5.1 fixed it.
var scriptCacheLost = race.Scenario{
	ID:       "script-cache-lost",
	Race:     "R48",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Needs:    func(p race.Profile) race.Reason { return unless(p.UsesEVALSHA, "no-evalsha") },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 3 / 10}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		unknown := func(e *history.Event) bool {
			return race.Applies(1, "EVALSHA")(e) && strings.HasPrefix(e.Reply, "(error) NOSCRIPT")
		}
		return race.InOrderWithout(h, race.LosesKey,
			race.Event(history.Enter, 1), race.AnyEvent(history.Failover), race.Event(history.Release, 1),
			unknown, race.EventOfOther(history.Acquire, 1))
	},
}
