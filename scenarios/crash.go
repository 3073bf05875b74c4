package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// crashHolding: the documentation of SETNX describes this deadlock, and all five articles tell it.
var crashHolding = race.Race{
	ID: "crash-holding", Code: "R01", Group: "lease",
	Settings:  race.Standard(),
	Budget:    race.FixedBudget("crash=1"),
	Clients:   func(s settings) clients { return clients{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}} },
	Script:    func(s settings, _ int) script { return inject(c1Enters, s.TTL/10, faults.CrashOf(1)) },
	Triggered: race.SequenceWithout(c1Leaves, c1Enters, c1Crashes, othersAsk),
}

// crashBeforeExpire: article 004 calls such a key immortal; redis-py had this lock until 2014.
var crashBeforeExpire = variant(crashHolding, "crash-before-expire", "R02", func(sc *race.Race) {
	sc.Needs = needs{race.LateTTL}
	created := race.CreatesKeyWithoutTTL(1)
	sc.Script = func(settings, int) script { return inject(created, 0, faults.CrashOf(1)) }
	sc.Triggered = race.SequenceWithout(setsTTL, created, c1Crashes, othersAsk)
})

// setsTTL matches the moment at which c1's key gets a TTL.
func setsTTL(e *history.Event) bool {
	return e.Kind == history.Change && e.Client == 1 && e.Key == client.Key && e.Until != history.Forever
}

// partialAcquire: the keys that a crashed client leaves on the servers are often called orphans. Here ORPHAN is a key
// of a living client; the crashed one's keys are BLOCKED, as in crash-holding.
var partialAcquire = variant(crashHolding, "partial-acquire", "R30", func(sc *race.Race) {
	sc.Group, sc.Needs = "majority", needs{race.SeveralServers}
	sc.Script = func(_ settings, nodes int) script {
		return inject(race.CreatesKeyOn(1, race.Quorum(nodes)), 0, faults.CrashOf(1))
	}
	sc.Triggered = func(h *history.History) bool {
		return race.InOrderWithout(h, race.Decides(1), race.CreatesKeyOn(1, h.Quorum()), c1Crashes, othersAsk)
	}
})

// deadBusiness: Redisson issue 3521, a lock held for as long as the process lives. A lock without TTL stays as well,
// without any daemon. The lock of daemon-29 ends by itself, since its second renewal comes when the lease is over.
var deadBusiness = race.Race{
	ID: "dead-business", Code: "R16", Group: "renewal",
	Settings: race.Standard(),
	Clients: func(s settings) clients {
		return clients{{Work: s.TTL / 10, Fails: true}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: race.Sequence(c1Enters, race.Throws(1), othersAsk),
}

// deadProcess is deadBusiness in which the process is killed later.
var deadProcess = variant(deadBusiness, "dead-process", "R16B", func(sc *race.Race) {
	sc.Budget, sc.Needs = race.FixedBudget("crash=1"), needs{race.Renewals}
	sc.Script = func(s settings, _ int) script { return inject(c1Leaves, s.TTL*6/5, faults.CrashOf(1)) }
	sc.Triggered = race.Sequence(race.Throws(1), othersAsk, c1Crashes, othersAsk)
})

// noFinally: article 004's tasks release after the work, in no finally.
var noFinally = race.Race{
	ID: "no-finally", Code: "R45", Group: "use",
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
