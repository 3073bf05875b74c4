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
	Needs:    needs("no-evalsha", func(p race.Profile) bool { return p.UsesEVALSHA }),
	Clients:  func(s settings) clients { return clients{{Work: s.TTL * 3 / 10}, {Start: s.Retry / 2, Work: s.Retry}} },
	Script:   func(s settings, _ int) script { return inject(c1Enters, s.Retry, faults.FailoverOf(1)) },
	Triggered: func(h *history.History) bool {
		unknown := func(e *history.Event) bool {
			return race.Applies(1, "EVALSHA")(e) && strings.HasPrefix(e.Reply, "(error) NOSCRIPT")
		}
		return race.InOrderWithout(h, race.LosesKey, c1Enters, failsOver, c1Releases, unknown, othersAsk)
	},
}
