package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
)

// deadBusiness: Redisson issue 3521, a lock held for as long as the process lives. A lock
// without TTL stays as well, without any daemon. The lock of daemon-29 ends by itself,
// since its second renewal is due only when the lease is over.
var deadBusiness = race.Scenario{
	ID:       "dead-business",
	Race:     "R16",
	Settings: race.Standard(),
	Clients: func(s settings) clients {
		return clients{{Work: s.TTL / 10, Fails: true}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: race.Sequence(c1Enters, race.Throws(1), othersAsk),
}

// deadProcess is deadBusiness in which the process is killed later.
var deadProcess = variant(deadBusiness, "dead-process", "R16B", func(sc *race.Scenario) {
	sc.Budget, sc.Needs = race.FixedBudget("crash=1"), needsWatchdog
	sc.Script = func(s settings, _ int) script { return inject(c1Leaves, s.TTL*6/5, faults.CrashOf(1)) }
	sc.Triggered = race.Sequence(race.Throws(1), othersAsk, c1Crashes, othersAsk)
})

// noFinally: article 004's tasks release after the work, in no finally.
var noFinally = race.Scenario{
	ID:       "no-finally",
	Race:     "R45",
	Settings: race.Standard(),
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry, Run: func(a *race.ClientRun) {
				failing := a.Spec
				failing.Fails = true
				client.Work(a.Client, client.Acquire(a.Client, a.Lock, a.Spec.Retry), failing.Section())
				a.Clock().Sleep(s.Retry * 2)
				a.AcquireWorkRelease()
			}},
			{Start: s.Retry / 2, Work: s.Retry},
		}
	},
	Triggered: race.Sequence(c1Enters, race.Throws(1), othersAsk, c1Asks),
}
