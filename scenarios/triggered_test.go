package scenarios_test

import (
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// mutants are runs that look like a scenario, and in which what it is about does
// not happen. That they are told apart is what gives "reached" its meaning.
var mutants = []struct {
	scenario, mutation string
	change             func(sc *race.Scenario)
	harms              string // why the mutant may break locks all the same; "": it must not
	misses             bool   // the script tries, and the world refuses
}{
	{scenario: "calm", mutation: "c1 is done before anybody else comes", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client { return []race.Client{{}, {Start: s.Retry / 2, Work: s.Retry}} }
	}},
	{scenario: "crash-holding", mutation: "nobody dies", change: withoutScript},
	{scenario: "crash-holding", mutation: "c1 dies when it is outside again", change: onEvent(race.Event(history.Leave, 1), faults.CrashOf(1)), harms: "a key without a time to live is still there"},
	{scenario: "crash-holding", mutation: "nobody asks after the crash", change: func(sc *race.Scenario) { sc.Settings.Clients = 1 }, harms: "nobody is left to find out"},
	{scenario: "crash-before-expire", mutation: "nobody dies", change: withoutScript},
	{scenario: "crash-before-expire", mutation: "c1 dies when EXPIRE has been executed", change: onEvent(race.Event(history.Enter, 1), faults.CrashOf(1)), harms: "it is a crash all the same, blocked for one lease"},
	{scenario: "slow-work", mutation: "the work takes half a lease", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			return []race.Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}, {Start: s.Retry, Work: s.Retry}}
		}
	}},
	{scenario: "late-release", mutation: "the release is as fast as everything", change: withoutScript},
	{scenario: "double-del", mutation: "c1 lives", change: withoutScript},
	{scenario: "double-del", mutation: "c3 reads what c2 has written", change: onEvent(race.CreatesKeyWithoutTTL(1), faults.CrashOf(1))},
	{scenario: "getset-nil", mutation: "the GETSET is as fast as everything", change: withoutScript, harms: "c1 works longer than its lease, and the takeover succeeds"},
	{scenario: "get-nil", mutation: "the GET is as fast as everything", change: withoutScript},
	{scenario: "get-nil-taken", mutation: "the GET is as fast as everything", change: withoutScript},
	{scenario: "get-nil-taken", mutation: "c3 comes when c2 has been inside", change: func(sc *race.Scenario) {
		clients := sc.Clients
		sc.Clients = func(s race.Settings) []race.Client {
			roles := clients(s)
			roles[2].Start = s.TTL
			return roles
		}
		sc.Script = racetest.Scenario("get-nil").Script
	}},
	{scenario: "overwritten-stamp", mutation: "c1 lives", change: withoutScript},
	{scenario: "overwritten-stamp", mutation: "c3 reads what c2 has written", change: onEvent(race.CreatesKeyWithoutTTL(1), faults.CrashOf(1))},
	{scenario: "client-skew", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "same-second", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "same-second", mutation: "the GETSET is as fast as everything", change: withoutScript, harms: "c2's clock is wrong all the same"},
	{scenario: "foreign-shutdown", mutation: "c2 lives on", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			roles := racetest.Scenario("foreign-shutdown").Clients(s)
			roles[1].Run = (*race.ClientRun).TryOnce
			return roles
		}
	}},
	{scenario: "own-shutdown", mutation: "c1 is not told to end", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			roles := racetest.Scenario("own-shutdown").Clients(s)
			roles[0].Run = nil
			return roles
		}
	}},
	{scenario: "same-thread", mutation: "the release is as fast as everything", change: withoutScript},
	{scenario: "same-token", mutation: "each draws its own, and the release is as fast as everything", change: func(sc *race.Scenario) {
		sc.Clients = racetest.Scenario("late-release").Clients
		withoutScript(sc)
	}},
	{scenario: "nested", mutation: "everybody locks once", change: func(sc *race.Scenario) { plays(sc, 0, nil) }},
	{scenario: "pooled-thread", mutation: "no second request comes", change: func(sc *race.Scenario) { plays(sc, 0, nil) }},
	{scenario: "second-try", mutation: "c1 is done before anybody else comes", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client { return []race.Client{{}, {Start: s.Retry / 2, Work: s.Retry}} }
	}},
	{scenario: "second-try", mutation: "c2 tries once only while c1 is inside", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
		}
	}},
	{scenario: "second-key", mutation: "c2 has no other key", change: func(sc *race.Scenario) { plays(sc, 1, nil) }},
	{scenario: "late-re-entry", mutation: "everybody locks once", change: func(sc *race.Scenario) { plays(sc, 0, nil) }},
	{scenario: "two-keys", mutation: "c1 takes one key only", change: func(sc *race.Scenario) { plays(sc, 0, nil) }},
	{scenario: "late-renewal", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "late-renewal", mutation: "the pause is over before the renewal is due", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(0, faults.PauseOf(1, s.TTL/5))}}
		}
	}},
	{scenario: "zombie-daemon", mutation: "c1 sleeps through nothing", change: withoutScript, harms: "its watchdog keeps its lock, as in dead-business"},
	{scenario: "zombie-daemon", mutation: "c1 lives and releases", change: func(sc *race.Scenario) { plays(sc, 0, (*race.ClientRun).AcquireWorkRelease) }},
	{scenario: "zombie-keeps", mutation: "c1 sleeps through nothing", change: withoutScript, harms: "its watchdog keeps its lock, as in dead-business"},
	{scenario: "zombie-keeps", mutation: "c2 lives", change: func(sc *race.Scenario) { sc.Script = racetest.Scenario("zombie-daemon").Script }},
	{scenario: "failed-renewal", mutation: "all renewals are answered", change: withoutScript},
	{scenario: "dead-business", mutation: "c1 lives and releases", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			return []race.Client{{Work: s.TTL / 10}, {Start: s.Retry / 2, Work: s.Retry}}
		}
	}},
	{scenario: "renewal-in-flight", mutation: "renewals are as fast as everything", change: withoutScript},
	{scenario: "renewal-in-flight", mutation: "the renewal arrives before the release", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.SendsFromTimer(1), Do: func(st *schedule.Stage, _ *history.Event) {
				st.Freeze(1)
				st.After(s.Retry, func() { st.Thaw(1) })
			}}}
		}
	}},
	{scenario: "gc-pause", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "gc-pause", mutation: "nobody is paused", change: withoutScript},
	{scenario: "gc-pause-fenced", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "gc-pause-cas", mutation: "nobody is paused", change: withoutScript},
	{scenario: "gc-pause-cas", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "check-then-pause", mutation: "nobody is paused", change: withoutScript},
	{scenario: "check-then-pause", mutation: "c1 does not check", change: func(sc *race.Scenario) { plays(sc, 0, nil) }},
	{scenario: "failover", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "failover", mutation: "the replica is in step when the master dies", change: func(sc *race.Scenario) { sc.Settings.Lag = 500 * time.Millisecond }},
	{scenario: "failover", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-behind", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-behind", mutation: "the replica has heard when the master dies", change: func(sc *race.Scenario) {
		sc.Settings.Lag = 90 * time.Millisecond
		sc.Script = racetest.Scenario("failover").Script
	}},
	{scenario: "failover-other", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-other", mutation: "the one that has heard is promoted", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag*3/2, faults.FailoverOf(1))}}
		}
	}},
	{scenario: "failover-other", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "replica-gone", mutation: "the replica hears at once", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "restart-everysec", mutation: "the server stays up", change: withoutScript},
	{scenario: "restart-everysec", mutation: "the lock is on disk when the server restarts", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, nodes int) []race.Trigger {
			triggers := racetest.Scenario("restart").Script(s, nodes)
			triggers[len(triggers)-1].Do = race.Inject(2*time.Second, faults.RestartOf(race.Quorum(nodes)))
			return triggers
		}
	}},
	{scenario: "restart-always", mutation: "the server stays up", change: withoutScript},
	{scenario: "restart-always", mutation: "the server keeps nothing", change: func(sc *race.Scenario) { sc.AOF = simulator.NoAOF }, harms: "it is restart then"},
	{scenario: "restart-delayed", mutation: "the server stays up", change: withoutScript},
	{scenario: "restart-delayed", mutation: "the server is back at once", change: func(sc *race.Scenario) { sc.Script = racetest.Scenario("restart").Script }, harms: "it is restart then"},
	{scenario: "restart", mutation: "the server stays up", change: withoutScript},
	{scenario: "clock-jump", mutation: "jump=0", change: func(sc *race.Scenario) { sc.Settings.Jump = 0 }, misses: true},
	{scenario: "clock-jump", mutation: "the jump is shorter than the lease", change: func(sc *race.Scenario) { sc.Settings.Jump = sc.Settings.TTL / 2 }},
	{scenario: "quorum-restart", mutation: "the server stays up", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, nodes int) []race.Trigger {
			return racetest.Scenario("quorum-restart").Script(s, nodes)[:1]
		}
	}},
	{scenario: "quorum-restart", mutation: "nobody is paused", change: onEvent(race.Event(history.Enter, 1), faults.RestartOf(3))},
	{scenario: "slow-acquire", mutation: "all answers are in time", change: withoutScript},
	{scenario: "slow-acquire", mutation: "the answers are late by less than a lease", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, nodes int) []race.Trigger {
			s.TTL /= 2
			return racetest.Scenario("slow-acquire").Script(s, nodes)
		}
	}},
	{scenario: "pause-in-flight", mutation: "nobody is paused", change: withoutScript},
	{scenario: "pause-in-flight", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "pause-in-flight", mutation: "c1 has its answers", change: onEvent(race.Event(history.Enter, 1), faults.PauseOf(1, racetest.Scenario("pause-in-flight").Settings.Pause)), harms: "it is gc-pause then"},
	{scenario: "clock-drift", mutation: "c1's clock is right", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			clients := racetest.Scenario("clock-drift").Clients(s)
			clients[0].PPM = 0
			return clients
		}
	}},
	{scenario: "clock-drift", mutation: "nobody else asks while c1 is inside", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			clients := racetest.Scenario("clock-drift").Clients(s)
			clients[1].Start = s.TTL * 2
			return clients
		}
	}},
	{scenario: "server-drift", mutation: "the servers' clocks are right", change: func(sc *race.Scenario) { sc.NodePPM = 0 }},
	{scenario: "server-drift", mutation: "nobody else asks while c1 is inside", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			clients := racetest.Scenario("server-drift").Clients(s)
			clients[1].Start = s.TTL * 2
			return clients
		}
	}},
	{scenario: "split-vote", mutation: "all ask the servers in the same order", change: withoutOrder},
	{scenario: "split-vote", mutation: "c1 comes first", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			clients := racetest.Scenario("split-vote").Clients(s)
			clients[1].Start, clients[2].Start = s.Retry/2, s.Retry/2
			return clients
		}
	}},
	{scenario: "split-vote-spread", mutation: "all ask the servers in the same order", change: withoutOrder},
	{scenario: "partial-acquire", mutation: "nobody dies", change: withoutScript},
	{scenario: "partial-acquire", mutation: "c1 dies when it is inside", change: onEvent(race.Event(history.Enter, 1), faults.CrashOf(1)), harms: "it is crash-holding then"},
	{scenario: "lost-reply", mutation: "all answers arrive", change: withoutScript},
	{scenario: "client-behind", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "dead-process", mutation: "nobody kills the process", change: withoutScript, harms: "it is dead-business"},
	{scenario: "dead-process", mutation: "c1 lives and releases", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			return []race.Client{{Work: s.TTL / 10}, {Start: s.Retry / 2, Work: s.Retry}}
		}
	}},
	{scenario: "late-write", mutation: "the network is as fast as ever", change: withoutScript},
	{scenario: "late-write", mutation: "the write is late, and c1 waits for it", change: func(sc *race.Scenario) { sc.Settings.Timeout = sc.Settings.TTL }},
	{scenario: "late-write", mutation: "it is the read that is late", change: onEvent(func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
	}, faults.DelayOf(1, 0, race.Seconds(6)))},
	{scenario: "late-write-fenced", mutation: "the network is as fast as ever", change: withoutScript},
	{scenario: "late-write-cas", mutation: "the network is as fast as ever", change: withoutScript},
	{scenario: "split-brain", mutation: "the network stays whole", change: withoutScript},
	{scenario: "split-brain", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }, harms: "c1's release reaches the old master alone"},
	{scenario: "split-in-step", mutation: "the network stays whole", change: withoutScript},
	{scenario: "split-in-step", mutation: "the replica has heard of nothing", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is split-brain"},
	{scenario: "split-renewed", mutation: "the network stays whole", change: withoutScript},
	{scenario: "split-renewed", mutation: "the replica has heard of nothing", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is split-brain"},
	{scenario: "split-bounded", mutation: "the network stays whole", change: withoutScript},
	{scenario: "split-bounded", mutation: "min-replicas-to-write is 0", change: func(sc *race.Scenario) { sc.MinReplicas = 0 }, harms: "it is what bounds the split"},
	{scenario: "release-again", mutation: "all answers arrive", change: withoutScript},
	{scenario: "release-again", mutation: "c1 releases once", change: func(sc *race.Scenario) {
		clients := sc.Clients
		sc.Clients = func(s race.Settings) []race.Client {
			roles := clients(s)
			roles[0].Run = nil
			return roles
		}
	}},
	{scenario: "missed-wake", mutation: "the SUBSCRIBE is as fast as everything", change: withoutScript},
	{scenario: "silent-crash", mutation: "nobody dies", change: withoutScript},
	{scenario: "silent-crash", mutation: "c2 comes after the crash", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			roles := racetest.Scenario("silent-crash").Clients(s)
			roles[1].Start = s.TTL / 5
			return roles
		}
	}, harms: "the message does not come either way"},
	{scenario: "herd", mutation: "one waits", change: func(sc *race.Scenario) { sc.Settings.Clients = 2 }},
	{scenario: "overtaken", mutation: "c2 comes once", change: func(sc *race.Scenario) {
		clients := sc.Clients
		sc.Clients = func(s race.Settings) []race.Client {
			roles := clients(s)
			roles[1].Run = nil
			return roles
		}
	}},
	{scenario: "overtaken", mutation: "c2 rests after each release", change: func(sc *race.Scenario) {
		clients := sc.Clients
		sc.Clients = func(s race.Settings) []race.Client {
			roles := clients(s)
			roles[1].Run = func(a *race.ClientRun) {
				for range 15 {
					a.AcquireWorkRelease()
					a.Clock().Sleep(s.Retry * 3 / 2)
				}
			}
			return roles
		}
	}},
	{scenario: "stray-delete", mutation: "nobody deletes it", change: withoutScript},
	{scenario: "stray-delete", mutation: "c1 has left already", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Leave, 1), Do: race.Inject(0, faults.DeleteOf(1, 0))}}
		}
	}},
	{scenario: "eviction", mutation: "there is memory enough", change: withoutScript},
	{scenario: "flush", mutation: "nobody empties it", change: withoutScript},
	{scenario: "double-run", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "double-run", mutation: "the clocks differ by less than the job takes", change: func(sc *race.Scenario) { sc.Settings.Skew /= 10 }},
	{scenario: "no-finally", mutation: "the release is in finally", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
		}
	}},
	{scenario: "no-finally", mutation: "c1 does not come back", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("dead-business").Clients }, harms: "its lock stands all the same"},
	{scenario: "renew-held", mutation: "nobody is paused", change: withoutScript},
	{scenario: "renew-held", mutation: "c2 is gone", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("renew-free").Clients }},
	{scenario: "renew-free", mutation: "nobody is paused", change: withoutScript},
	{scenario: "renew-free", mutation: "c2 is still inside", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("renew-held").Clients }},
	{scenario: "renew-late", mutation: "all answers are in time", change: withoutScript},
	{scenario: "renew-late", mutation: "the answer is late by less than a lease", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, nodes int) []race.Trigger {
			s.TTL /= 2
			return racetest.Scenario("renew-late").Script(s, nodes)
		}
	}},
	{scenario: "renew-partly", mutation: "all requests arrive", change: withoutScript},
	{scenario: "opposite-order", mutation: "both in the same order", change: func(sc *race.Scenario) {
		plays(sc, 1, racetest.Scenario("opposite-order").Clients(race.Standard())[0].Run)
	}},
	{scenario: "opposite-order", mutation: "c2 comes when c1 is done", change: func(sc *race.Scenario) {
		sc.Clients = func(s race.Settings) []race.Client {
			clients := racetest.Scenario("opposite-order").Clients(s)
			clients[1].Start = s.TTL * 3 / 4
			return clients
		}
	}},
	{scenario: "script-cache-lost", mutation: "the master lives", change: withoutScript},
	{scenario: "script-cache-lost", mutation: "the replica has heard of nothing", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is failover then"},
	{scenario: "late-answer", mutation: "nobody is paused", change: withoutScript},
	{scenario: "late-answer", mutation: "the pause is shorter than the patience", change: func(sc *race.Scenario) { sc.Settings.Pause, sc.Settings.Timeout = race.Seconds(2), race.Seconds(3) }, misses: true},
	{scenario: "late-answer", mutation: "c1 sleeps before it has asked", change: onEvent(race.Event(history.Acquire, 1), faults.PauseOf(1, race.Seconds(2)))},
	{scenario: "two-pauses", mutation: "only the first", change: onEvent(race.Event(history.Enter, 1), faults.PauseOf(1, racetest.Scenario("two-pauses").Settings.Pause))},
	{scenario: "two-pauses", mutation: "only the second", change: func(sc *race.Scenario) {
		sc.Script = func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))}}
		}
	}},
	{scenario: "two-pauses", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "failover-in-step", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-in-step", mutation: "the replica has heard of nothing", change: func(sc *race.Scenario) {
		sc.Settings.Lag = time.Second
		onEvent(race.CreatesKey(1), faults.FailoverOf(1))(sc)
	}},
	{scenario: "failover-in-step", mutation: "c1 has its answer", change: onEvent(race.Event(history.Enter, 1), faults.FailoverOf(1))},
	{scenario: "undone-release", mutation: "the master lives", change: withoutScript},
	{scenario: "undone-release", mutation: "the replica has heard of the release", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "undone-release", mutation: "the replica has never heard of the lock", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }},
	{scenario: "quorum-failover", mutation: "the master lives", change: func(sc *race.Scenario) {
		script := sc.Script
		sc.Script = func(s race.Settings, nodes int) []race.Trigger {
			triggers := script(s, nodes)
			return triggers[:len(triggers)-1]
		}
	}},
	{scenario: "quorum-failover", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "failover-fenced", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-fenced", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "watch-herd", mutation: "c5 comes when c1 has gone", change: starts(4, race.Seconds(3))},
	{scenario: "watch-herd", mutation: "nobody waits in line", change: withoutPatience},
	{scenario: "in-line", mutation: "c1 comes when c2 has gone", change: starts(0, race.Seconds(30))},
	{scenario: "lost-create", mutation: "all answers arrive", change: withoutScript},
	{scenario: "lost-create", mutation: "it is the request that is lost", change: func(sc *race.Scenario) {
		sc.Budget = race.FixedBudget("lose-request=1")
		onEvent(race.Sends(1, "CREATE"), faults.LoseRequestOf(1, 0))(sc)
	}},
	{scenario: "session-pause", mutation: "nobody is paused", change: withoutScript},
	{scenario: "session-pause", mutation: "the pause is shorter than a session lasts", change: func(sc *race.Scenario) { sc.Settings.Pause = sc.Settings.TTL / 2 }},
	{scenario: "session-ends", mutation: "the session lives", change: withoutScript},
	{scenario: "session-ends", mutation: "it ends when c1 is outside", change: onEvent(race.Event(history.Released, 1), faults.ExpireSessionOf(1))},
	{scenario: "suspended", mutation: "the connection holds", change: withoutScript},
	{scenario: "suspended", mutation: "c1 does not ask", change: func(sc *race.Scenario) { plays(sc, 0, nil) }},
	{scenario: "suspended-ignored", mutation: "the connection holds", change: withoutScript},
	{scenario: "waiter-dies", mutation: "the session lives", change: withoutScript},
	{scenario: "waiter-dies", mutation: "nobody waits behind c2", change: func(sc *race.Scenario) { sc.Settings.Clients = 2 }},
	{scenario: "waiter-leaves", mutation: "c2 has patience", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("waiter-dies").Clients }},
	{scenario: "waiter-leaves", mutation: "nobody waits behind c2", change: func(sc *race.Scenario) { sc.Settings.Clients = 2 }},
	{scenario: "numbers-end", mutation: "the counter begins at 0", change: func(sc *race.Scenario) { sc.SequenceExhausted = false }},
	{scenario: "lost-release", mutation: "all requests arrive", change: withoutScript},
}

// plays gives one role of the clients another play.
func plays(sc *race.Scenario, role int, play func(*race.ClientRun)) {
	clients := sc.Clients
	sc.Clients = func(s race.Settings) []race.Client {
		roles := clients(s)
		roles[role].Run, roles[role].Fails = play, false
		return roles
	}
}

// starts has one role of the clients begin at another time.
func starts(role int, at time.Duration) func(sc *race.Scenario) {
	return clientsBut(func(roles []race.Client) { roles[role].Start = at })
}

// withoutPatience has nobody wait in line.
func withoutPatience(sc *race.Scenario) {
	clientsBut(func(roles []race.Client) {
		for i := range roles {
			roles[i].Patience = 0
		}
	})(sc)
}

// clientsBut changes the clients.
func clientsBut(change func(roles []race.Client)) func(sc *race.Scenario) {
	return func(sc *race.Scenario) {
		clients := sc.Clients
		sc.Clients = func(s race.Settings) []race.Client {
			roles := clients(s)
			change(roles)
			return roles
		}
	}
}

func withoutScript(sc *race.Scenario) { sc.Script = nil }

// withoutOrder has everybody ask the servers in the same order.
func withoutOrder(sc *race.Scenario) {
	clients := sc.Clients
	sc.Clients = func(s race.Settings) []race.Client {
		roles := clients(s)
		for i := range roles {
			roles[i].First = 0
		}
		return roles
	}
}

// TestTriggeredCanFail: a scenario that does not happen is not reached, whatever
// the lock, and a lock that nothing happened to has proven nothing.
func TestTriggeredCanFail(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, m := range mutants {
		covered[m.scenario] = true
		played := 0
		_, told := racetest.Cell(t, "token", m.scenario)
		for _, e := range tellers(t, told) {
			sc := told
			if racetest.PlayListed(t, e, sc, sc.Settings).NotApplicable != "" {
				continue
			}
			played++
			m.change(&sc)
			o, err := sc.PlayUnchecked(e, sc.Settings)
			if err != nil {
				t.Fatal(err)
			}
			if (o.NotInjected != nil) != m.misses {
				t.Errorf("%s in %s, %s: could not happen: %v", e.ID, sc.ID, m.mutation, o.NotInjected)
			}
			if o.Reached {
				t.Errorf("%s in %s, %s: and yet it counts as reached", e.ID, sc.ID, m.mutation)
			}
			if w := o.Verdicts[0]; w != verdict.Vacuous && (m.harms == "" || !w.Broken()) {
				// broken without the misfortune: the scenario would prove something else than its title says
				t.Errorf("%s in %s, %s: %v, want VACUOUS", e.ID, sc.ID, m.mutation, o.Verdicts)
			}
		}
		if played == 0 {
			t.Errorf("%s: no lock plays it", m.scenario)
		}
	}
	for _, sc := range scenarios.All() {
		if sc.Triggered == nil {
			t.Errorf("%s cannot tell whether it happened", sc.ID)
		}
		if !covered[sc.ID] {
			t.Errorf("%s: no mutant shows that it can fail to happen", sc.ID)
		}
	}
}

// tellers are the locks whose runs tell a scenario: the milestones, and where it is
// asked of none of them, those of which it is.
func tellers(t testing.TB, sc race.Scenario) []lock.Entry {
	t.Helper()
	unasked := func(e lock.Entry) bool {
		return racetest.PlayListed(t, e, sc, sc.Settings).NotApplicable != ""
	}
	tellers := algorithms.Milestones()
	for _, e := range tellers {
		if !unasked(e) {
			return tellers
		}
	}
	redis := slices.DeleteFunc(algorithms.All(), func(e lock.Entry) bool { return e.OnZooKeeper() || unasked(e) })
	lines := slices.DeleteFunc(algorithms.OnZooKeeper()[:4], unasked) // Curator's are built on the last of these
	return slices.Concat(tellers, redis, lines)
}

func onEvent(on func(*history.Event) bool, c simulator.Choice) func(sc *race.Scenario) {
	return func(sc *race.Scenario) {
		sc.Script = func(race.Settings, int) []race.Trigger { return []race.Trigger{{On: on, Do: race.Inject(0, c)}} }
	}
}
