package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// Races of clients that do not poll, but wait for the message that a release publishes.

// missedWake: why Redisson subscribes first, tries again, and only then waits.
var missedWake = race.Race{
	ID: "missed-wake", Code: "R35", Group: "waiting",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Needs:    needs{race.NoWatches, race.Queue},
	Clients:  func(s settings) clients { return holderAndWaiters(s, race.ClientSpec{Work: s.Retry}, 1) },
	Script: func(s settings, _ int) script {
		return inject(race.Sends(2, "SUBSCRIBE"), 0, faults.DelayOf(2, 0, s.Retry*2))
	},
	Triggered: race.Sequence(c1Enters, c2Asks, race.Sends(2, "SUBSCRIBE"), race.DeletesKey(1),
		race.Applies(2, "SUBSCRIBE")),
}

// silentCrash: a waiter of Redisson waits for the message or the rest of the lease.
var silentCrash = race.Race{
	ID: "silent-crash", Code: "R35B", Group: "waiting",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    needs{race.NoWatches, race.Queue},
	Clients:  func(s settings) clients { return holderAndWaiters(s, race.ClientSpec{Work: s.TTL / 2}, 1) },
	Script:   crashHolding.Script,
	Triggered: func(h *history.History) bool {
		return !race.InOrder(h, race.DeletesKey(1)) &&
			race.InOrder(h, c1Enters, race.Applies(2, "SUBSCRIBE"), c1Crashes)
	},
}

// herd: the thundering herd. No verdict names it.
var herd = race.Race{
	ID: "herd", Code: "R36", Group: "waiting",
	Settings:  race.StandardWith(func(s *settings) { s.Clients = 4 }),
	Needs:     needs{race.NoWatches, race.Queue},
	Clients:   func(s settings) clients { return holderAndWaiters(s, race.ClientSpec{Work: s.Retry}, 3) },
	Triggered: func(h *history.History) bool { return wokenClients(h) > 1 },
}

// holderAndWaiters are a holder and n clients that wait for it.
func holderAndWaiters(s settings, holder race.ClientSpec, n int) clients {
	roles := clients{holder}
	for i := range n {
		roles = append(roles, race.ClientSpec{
			Start: s.Retry/2 + time.Duration(i)*s.Retry/10, Work: s.Retry / 2,
			Patience: s.Horizon,
		})
	}
	return roles
}

// wokenClients returns how many clients receive the message of c1's release.
func wokenClients(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case race.DeletesKey(1)(e):
			released = true
		case released && e.Kind == history.Enter:
			return n
		case released && e.Kind == history.Push:
			n++
		}
	}
	return n
}
