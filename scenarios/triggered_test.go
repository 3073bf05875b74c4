package scenarios_test

import (
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// mutants are runs that resemble a scenario, but do not contain what the scenario is
// about. Scenario.Triggered must tell them apart.
var mutants = []struct {
	scenario, mutation string
	change             func(sc *race.Scenario)
	harms              string // why the mutant may break locks all the same; "": it must not
	misses             bool   // a fault of the script cannot be injected
}{
	{scenario: "calm", mutation: "c1 is done before anybody else comes", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{scenario: "crash-holding", mutation: "nobody crashes", change: withoutScript},
	{scenario: "crash-holding", mutation: "c1 crashes when it is outside again", change: onEvent(race.Event(history.Leave, 1), faults.CrashOf(1)), harms: "a key without a TTL is still there"},
	{scenario: "crash-holding", mutation: "nobody asks after the crash", change: func(sc *race.Scenario) { sc.Settings.Clients = 1 }, harms: "nobody is left to find out"},
	{scenario: "crash-before-expire", mutation: "nobody crashes", change: withoutScript},
	{scenario: "crash-before-expire", mutation: "c1 crashes when EXPIRE has been executed", change: onEvent(race.Event(history.Enter, 1), faults.CrashOf(1)), harms: "it is a crash all the same, blocked for one lease"},
	{scenario: "slow-work", mutation: "the work takes half a lease", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}, {Start: s.Retry, Work: s.Retry}}
	})},
	{scenario: "shard-list", mutation: "no list changes", change: withoutScript},
	{scenario: "shard-list", mutation: "the key does not move", change: onEvent(race.Event(history.Enter, 1), faults.ServerListOf(2, 2))},
	{scenario: "shard-list", mutation: "c1 is outside again", change: onEvent(race.Event(history.Leave, 1), faults.ServerListOf(2, 3))},
	{scenario: "rolling-deploy", mutation: "the new processes have the old list", change: clients(func(_ race.Settings, c []race.ClientSpec) { c[1].List = 2 })},
	{scenario: "rolling-deploy", mutation: "the new processes start when the old ones are done", change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL })},
	{scenario: "late-release", mutation: "the release is not delayed", change: withoutScript},
	{scenario: "double-del", mutation: "c1 lives", change: withoutScript},
	{scenario: "double-del", mutation: "c3 reads what c2 has written", change: onEvent(race.CreatesKeyWithoutTTL(1), faults.CrashOf(1))},
	{scenario: "getset-nil", mutation: "the GETSET is not delayed", change: withoutScript, harms: "c1 works longer than its lease, and the takeover succeeds"},
	{scenario: "get-nil", mutation: "the GET is not delayed", change: withoutScript},
	{scenario: "get-nil-taken", mutation: "the GET is not delayed", change: withoutScript},
	{scenario: "get-nil-taken", mutation: "c3 comes when c2 has been inside", change: func(sc *race.Scenario) {
		clients(func(s race.Settings, c []race.ClientSpec) { c[2].Start = s.TTL })(sc)
		sc.Script = racetest.Scenario("get-nil").Script
	}},
	{scenario: "overwritten-stamp", mutation: "c1 lives", change: withoutScript},
	{scenario: "overwritten-stamp", mutation: "c3 reads what c2 has written", change: onEvent(race.CreatesKeyWithoutTTL(1), faults.CrashOf(1))},
	{scenario: "client-skew", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "same-second", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "same-second", mutation: "the GETSET is not delayed", change: withoutScript, harms: "c2's clock is wrong all the same"},
	{scenario: "foreign-shutdown", mutation: "c2 lives on", change: clients(func(_ race.Settings, c []race.ClientSpec) { c[1].Run = (*race.ClientRun).TryOnce })},
	{scenario: "own-shutdown", mutation: "c1 is not told to stop", change: clients(func(_ race.Settings, c []race.ClientSpec) { c[0].Run = nil })},
	{scenario: "same-thread", mutation: "the release is not delayed", change: withoutScript},
	{scenario: "same-token", mutation: "each draws its own, and the release is not delayed", change: func(sc *race.Scenario) {
		sc.Clients = racetest.Scenario("late-release").Clients
		withoutScript(sc)
	}},
	{scenario: "nested", mutation: "everybody locks once", change: runs(0, nil)},
	{scenario: "pooled-thread", mutation: "no second request comes", change: runs(0, nil)},
	{scenario: "second-try", mutation: "c1 is done before anybody else comes", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{scenario: "second-try", mutation: "c2 tries once only while c1 is inside", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{scenario: "second-key", mutation: "c2 has no other key", change: runs(1, nil)},
	{scenario: "late-re-entry", mutation: "everybody locks once", change: runs(0, nil)},
	{scenario: "two-keys", mutation: "c1 takes one key only", change: runs(0, nil)},
	{scenario: "late-renewal", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "late-renewal", mutation: "the pause is over before the renewal is due", change: script(func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(0, faults.PauseOf(1, s.TTL/5))}}
	})},
	{scenario: "zombie-daemon", mutation: "c1 is not paused", change: withoutScript, harms: "its watchdog keeps its lock, as in dead-business"},
	{scenario: "zombie-daemon", mutation: "c1 lives and releases", change: runs(0, (*race.ClientRun).AcquireWorkRelease)},
	{scenario: "zombie-keeps", mutation: "c1 is not paused", change: withoutScript, harms: "its watchdog keeps its lock, as in dead-business"},
	{scenario: "zombie-keeps", mutation: "c2 lives", change: func(sc *race.Scenario) { sc.Script = racetest.Scenario("zombie-daemon").Script }},
	{scenario: "failed-renewal", mutation: "all renewals are answered", change: withoutScript},
	{scenario: "dead-business", mutation: "c1 lives and releases", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.TTL / 10}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{scenario: "renewal-in-flight", mutation: "renewals are not delayed", change: withoutScript},
	{scenario: "renewal-in-flight", mutation: "the renewal arrives before the release", change: script(func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.SendsFromTimer(1), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Freeze(1)
			st.After(s.Retry, func() { st.Thaw(1) })
		}}}
	})},
	{scenario: "gc-pause", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "gc-pause", mutation: "nobody is paused", change: withoutScript},
	{scenario: "gc-pause-fenced", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "gc-pause-cas", mutation: "nobody is paused", change: withoutScript},
	{scenario: "gc-pause-cas", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "check-then-pause", mutation: "nobody is paused", change: withoutScript},
	{scenario: "check-then-pause", mutation: "c1 does not check", change: runs(0, nil)},
	{scenario: "failover", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "failover", mutation: "the replica is in step when the master crashes", change: func(sc *race.Scenario) { sc.Settings.Lag = 500 * time.Millisecond }},
	{scenario: "failover", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-behind", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-behind", mutation: "the replica has received the lock when the master crashes", change: func(sc *race.Scenario) {
		sc.Settings.Lag = 90 * time.Millisecond
		sc.Script = racetest.Scenario("failover").Script
	}},
	{scenario: "failover-other", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-other", mutation: "the replica that has the lock is promoted", change: script(func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag*3/2, faults.FailoverOf(1))}}
	})},
	{scenario: "failover-other", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "replica-gone", mutation: "the replica has no lag", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "restart-everysec", mutation: "the server stays up", change: withoutScript},
	{scenario: "restart-everysec", mutation: "the lock is on disk when the server restarts", change: script(func(s race.Settings, nodes int) []race.Trigger {
		triggers := racetest.Scenario("restart").Script(s, nodes)
		triggers[len(triggers)-1].Do = race.Inject(2*time.Second, faults.RestartOf(race.Quorum(nodes)))
		return triggers
	})},
	{scenario: "restart-always", mutation: "the server stays up", change: withoutScript},
	{scenario: "restart-always", mutation: "the server keeps nothing", change: func(sc *race.Scenario) { sc.AOF = simulator.NoAOF }, harms: "it is restart then"},
	{scenario: "restart-delayed", mutation: "the server stays up", change: withoutScript},
	{scenario: "restart-delayed", mutation: "the server is back at once", change: func(sc *race.Scenario) { sc.Script = racetest.Scenario("restart").Script }, harms: "it is restart then"},
	{scenario: "restart", mutation: "the server stays up", change: withoutScript},
	{scenario: "clock-jump", mutation: "jump=0", change: func(sc *race.Scenario) { sc.Settings.Jump = 0 }, misses: true},
	{scenario: "clock-jump", mutation: "the jump is shorter than the lease", change: func(sc *race.Scenario) { sc.Settings.Jump = sc.Settings.TTL / 2 }},
	{scenario: "quorum-restart", mutation: "the server stays up", change: script(func(s race.Settings, nodes int) []race.Trigger {
		return racetest.Scenario("quorum-restart").Script(s, nodes)[:1]
	})},
	{scenario: "quorum-restart", mutation: "nobody is paused", change: onEvent(race.Event(history.Enter, 1), faults.RestartOf(3))},
	{scenario: "slow-acquire", mutation: "all answers are in time", change: withoutScript},
	{scenario: "slow-acquire", mutation: "the answers are late by less than a lease", change: script(func(s race.Settings, nodes int) []race.Trigger {
		s.TTL /= 2
		return racetest.Scenario("slow-acquire").Script(s, nodes)
	})},
	{scenario: "pause-in-flight", mutation: "nobody is paused", change: withoutScript},
	{scenario: "pause-in-flight", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "pause-in-flight", mutation: "c1 has its answers", change: onEvent(race.Event(history.Enter, 1), faults.PauseOf(1, racetest.Scenario("pause-in-flight").Settings.Pause)), harms: "it is gc-pause then"},
	{scenario: "clock-drift", mutation: "c1's clock is right", change: clients(func(_ race.Settings, c []race.ClientSpec) { c[0].PPM = 0 })},
	{scenario: "clock-drift", mutation: "nobody else asks while c1 is inside", change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL * 2 })},
	{scenario: "server-drift", mutation: "the servers' clocks are right", change: func(sc *race.Scenario) { sc.FastServers = false }},
	{scenario: "server-drift", mutation: "nobody else asks while c1 is inside", change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL * 2 })},
	{scenario: "split-vote", mutation: "all ask the servers in the same order", change: sameOrder},
	{scenario: "split-vote", mutation: "c1 comes first", change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start, c[2].Start = s.Retry/2, s.Retry/2 })},
	{scenario: "split-vote-spread", mutation: "all ask the servers in the same order", change: sameOrder},
	{scenario: "partial-acquire", mutation: "nobody crashes", change: withoutScript},
	{scenario: "partial-acquire", mutation: "c1 crashes when it is inside", change: onEvent(race.Event(history.Enter, 1), faults.CrashOf(1)), harms: "it is crash-holding then"},
	{scenario: "lost-reply", mutation: "all answers arrive", change: withoutScript},
	{scenario: "client-behind", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "dead-process", mutation: "nobody kills the process", change: withoutScript, harms: "it is dead-business"},
	{scenario: "dead-process", mutation: "c1 lives and releases", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.TTL / 10}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{scenario: "late-write", mutation: "the network does not delay it", change: withoutScript},
	{scenario: "late-write", mutation: "the write is late, and c1 waits for it", change: func(sc *race.Scenario) { sc.Settings.Timeout = sc.Settings.TTL }},
	{scenario: "late-write", mutation: "it is the read that is late", change: onEvent(func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
	}, faults.DelayOf(1, 0, race.Seconds(6)))},
	{scenario: "late-write-fenced", mutation: "the network does not delay it", change: withoutScript},
	{scenario: "late-write-cas", mutation: "the network does not delay it", change: withoutScript},
	{scenario: "split-brain", mutation: "the network is not partitioned", change: withoutScript},
	{scenario: "split-brain", mutation: "lag=0", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }, harms: "c1's release reaches the old master alone"},
	{scenario: "split-in-step", mutation: "the network is not partitioned", change: withoutScript},
	{scenario: "split-in-step", mutation: "the replica has received nothing", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is split-brain"},
	{scenario: "split-renewed", mutation: "the network is not partitioned", change: withoutScript},
	{scenario: "split-renewed", mutation: "the replica has received nothing", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is split-brain"},
	{scenario: "split-bounded", mutation: "the network is not partitioned", change: withoutScript},
	{scenario: "split-bounded", mutation: "min-replicas-to-write is 0", change: func(sc *race.Scenario) { sc.MinReplicas = 0 }, harms: "it is what bounds the split"},
	{scenario: "release-again", mutation: "all answers arrive", change: withoutScript},
	{scenario: "release-again", mutation: "c1 releases once", change: clients(func(_ race.Settings, c []race.ClientSpec) { c[0].Run = nil })},
	{scenario: "missed-wake", mutation: "the SUBSCRIBE is not delayed", change: withoutScript},
	{scenario: "silent-crash", mutation: "nobody crashes", change: withoutScript},
	{scenario: "silent-crash", mutation: "c2 comes after the crash", change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL / 5 }), harms: "the message does not come either way"},
	{scenario: "herd", mutation: "one waits", change: func(sc *race.Scenario) { sc.Settings.Clients = 2 }},
	{scenario: "overtaken", mutation: "c2 comes once", change: clients(func(_ race.Settings, c []race.ClientSpec) { c[1].Run = nil })},
	{scenario: "overtaken", mutation: "c2 pauses after each release", change: clients(func(s race.Settings, c []race.ClientSpec) {
		c[1].Run = func(a *race.ClientRun) {
			for range 15 {
				a.AcquireWorkRelease()
				a.Clock().Sleep(s.Retry * 3 / 2)
			}
		}
	})},
	{scenario: "stray-delete", mutation: "nobody deletes it", change: withoutScript},
	{scenario: "stray-delete", mutation: "c1 has left already", change: script(func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Leave, 1), Do: race.Inject(0, faults.DeleteOf(1, 0))}}
	})},
	{scenario: "eviction", mutation: "there is enough memory", change: withoutScript},
	{scenario: "flush", mutation: "nobody empties it", change: withoutScript},
	{scenario: "double-run", mutation: "skew=0", change: func(sc *race.Scenario) { sc.Settings.Skew = 0 }},
	{scenario: "double-run", mutation: "the clocks differ by less than the job takes", change: func(sc *race.Scenario) { sc.Settings.Skew /= 10 }},
	{scenario: "no-finally", mutation: "the release is in finally", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{scenario: "no-finally", mutation: "c1 does not come back", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("dead-business").Clients }, harms: "its lock remains all the same"},
	{scenario: "renew-held", mutation: "nobody is paused", change: withoutScript},
	{scenario: "renew-held", mutation: "c2 is gone", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("renew-free").Clients }},
	{scenario: "renew-free", mutation: "nobody is paused", change: withoutScript},
	{scenario: "renew-free", mutation: "c2 is still inside", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("renew-held").Clients }},
	{scenario: "renew-late", mutation: "all answers are in time", change: withoutScript},
	{scenario: "renew-late", mutation: "the answer is late by less than a lease", change: script(func(s race.Settings, nodes int) []race.Trigger {
		s.TTL /= 2
		return racetest.Scenario("renew-late").Script(s, nodes)
	})},
	{scenario: "renew-partly", mutation: "all requests arrive", change: withoutScript},
	{scenario: "opposite-order", mutation: "both in the same order", change: runs(1, racetest.Scenario("opposite-order").Clients(race.Standard())[0].Run)},
	{scenario: "opposite-order", mutation: "c2 comes when c1 is done", change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL * 3 / 4 })},
	{scenario: "script-cache-lost", mutation: "the master lives", change: withoutScript},
	{scenario: "script-cache-lost", mutation: "the replica has received nothing", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is failover then"},
	{scenario: "late-answer", mutation: "nobody is paused", change: withoutScript},
	{scenario: "late-answer", mutation: "the pause is shorter than the timeout", change: func(sc *race.Scenario) { sc.Settings.Pause, sc.Settings.Timeout = race.Seconds(2), race.Seconds(3) }, misses: true},
	{scenario: "late-answer", mutation: "c1 is paused before it has asked", change: onEvent(race.Event(history.Acquire, 1), faults.PauseOf(1, race.Seconds(2)))},
	{scenario: "two-pauses", mutation: "only the first", change: onEvent(race.Event(history.Enter, 1), faults.PauseOf(1, racetest.Scenario("two-pauses").Settings.Pause))},
	{scenario: "two-pauses", mutation: "only the second", change: script(func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))}}
	})},
	{scenario: "two-pauses", mutation: "pause=0", change: func(sc *race.Scenario) { sc.Settings.Pause = 0 }},
	{scenario: "failover-in-step", mutation: "the master lives", change: withoutScript},
	{scenario: "failover-in-step", mutation: "the replica has received nothing", change: func(sc *race.Scenario) {
		sc.Settings.Lag = time.Second
		onEvent(race.CreatesKey(1), faults.FailoverOf(1))(sc)
	}},
	{scenario: "failover-in-step", mutation: "c1 has its answer", change: onEvent(race.Event(history.Enter, 1), faults.FailoverOf(1))},
	{scenario: "undone-release", mutation: "the master lives", change: withoutScript},
	{scenario: "undone-release", mutation: "the replica has received the release", change: func(sc *race.Scenario) { sc.Settings.Lag = 0 }},
	{scenario: "undone-release", mutation: "the replica has never received the lock", change: func(sc *race.Scenario) { sc.Settings.Lag = sc.Settings.TTL }},
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
	{scenario: "watch-herd", mutation: "nobody waits in the queue", change: withoutPatience},
	{scenario: "in-line", mutation: "c1 comes when c2 has gone", change: starts(0, race.Seconds(30))},
	{scenario: "lost-create", mutation: "all answers arrive", change: withoutScript},
	{scenario: "lost-create", mutation: "it is the request that is lost", change: func(sc *race.Scenario) {
		sc.Budget = race.FixedBudget("lose-request=1")
		onEvent(race.Sends(1, "CREATE"), faults.LoseRequestOf(1, 0))(sc)
	}},
	{scenario: "session-pause", mutation: "nobody is paused", change: withoutScript},
	{scenario: "session-pause", mutation: "the pause is shorter than a session lasts", change: func(sc *race.Scenario) { sc.Settings.Pause = sc.Settings.TTL / 2 }},
	{scenario: "session-ends", mutation: "the session lives", change: withoutScript},
	{scenario: "session-ends", mutation: "it ends when c1 is outside", change: onEvent(race.Event(history.Leave, 1), faults.ExpireSessionOf(1))},
	{scenario: "suspended", mutation: "the connection holds", change: withoutScript},
	{scenario: "suspended", mutation: "c1 does not ask", change: runs(0, nil)},
	{scenario: "suspended-ignored", mutation: "the connection holds", change: withoutScript},
	{scenario: "waiter-dies", mutation: "the session lives", change: withoutScript},
	{scenario: "waiter-dies", mutation: "nobody waits behind c2", change: func(sc *race.Scenario) { sc.Settings.Clients = 2 }},
	{scenario: "waiter-leaves", mutation: "c2 has patience", change: func(sc *race.Scenario) { sc.Clients = racetest.Scenario("waiter-dies").Clients }},
	{scenario: "waiter-leaves", mutation: "nobody waits behind c2", change: func(sc *race.Scenario) { sc.Settings.Clients = 2 }},
	{scenario: "numbers-end", mutation: "the counter begins at 0", change: func(sc *race.Scenario) { sc.SequenceExhausted = false }},
	{scenario: "lost-release", mutation: "all requests arrive", change: withoutScript},
	{scenario: "late-unlock", mutation: "the release is not delayed", change: withoutScript},
}

// clients changes the clients.
func clients(change func(s race.Settings, c []race.ClientSpec)) func(sc *race.Scenario) {
	return func(sc *race.Scenario) {
		original := sc.Clients
		sc.Clients = func(s race.Settings) []race.ClientSpec {
			c := original(s)
			change(s, c)
			return c
		}
	}
}

// cast gives a scenario other clients, and script another script.
func cast(clients func(s race.Settings) []race.ClientSpec) func(sc *race.Scenario) {
	return func(sc *race.Scenario) { sc.Clients = clients }
}

func script(script func(s race.Settings, nodes int) []race.Trigger) func(sc *race.Scenario) {
	return func(sc *race.Scenario) { sc.Script = script }
}

// runs gives one client, counted from 0, another program, and no exception.
func runs(client int, run func(*race.ClientRun)) func(sc *race.Scenario) {
	return clients(func(_ race.Settings, c []race.ClientSpec) { c[client].Run, c[client].Fails = run, false })
}

// starts gives one client, counted from 0, another start.
func starts(client int, at time.Duration) func(sc *race.Scenario) {
	return clients(func(_ race.Settings, c []race.ClientSpec) { c[client].Start = at })
}

// withoutPatience lets no client wait in the queue.
func withoutPatience(sc *race.Scenario) {
	clients(func(_ race.Settings, c []race.ClientSpec) {
		for i := range c {
			c[i].Patience = 0
		}
	})(sc)
}

// sameOrder makes all clients ask the servers in the same order.
func sameOrder(sc *race.Scenario) {
	clients(func(_ race.Settings, c []race.ClientSpec) {
		for i := range c {
			c[i].First = 0
		}
	})(sc)
}

func withoutScript(sc *race.Scenario) { sc.Script = nil }

// TestTriggeredCanFail: in a run of a mutant the scenario is not reached, whichever lock
// is played, and the verdict is VACUOUS.
func TestTriggeredCanFail(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	t.Parallel()
	covered := map[string]bool{}
	for _, m := range mutants {
		covered[m.scenario] = true
		played := 0
		_, original := racetest.Cell(t, "token", m.scenario)
		for _, e := range representatives(t, original) {
			sc := original
			if racetest.PlayListed(t, e, sc, sc.Settings).NotApplicable != "" {
				continue
			}
			played++
			m.change(&sc)
			o := racetest.PlayAnyway(t, e, sc, sc.Settings)
			if (o.NotInjected != nil) != m.misses {
				t.Errorf("%s in %s, %s: not injected: %v", e.ID, sc.ID, m.mutation, o.NotInjected)
			}
			if o.Reached {
				t.Errorf("%s in %s, %s: and yet it counts as reached", e.ID, sc.ID, m.mutation)
			}
			if w := o.Verdicts[0]; w != verdict.Vacuous && (m.harms == "" || !w.Broken()) {
				// broken without the fault: the scenario would not prove what its title says
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

// representatives are the locks to play in a scenario: the milestones, and where it
// applies to none of them, the locks to which it applies.
func representatives(t testing.TB, sc race.Scenario) []lock.Entry {
	t.Helper()
	notApplicable := func(e lock.Entry) bool {
		return racetest.PlayListed(t, e, sc, sc.Settings).NotApplicable != ""
	}
	milestones := algorithms.Milestones()
	for _, e := range milestones {
		if !notApplicable(e) {
			return milestones
		}
	}
	redis := slices.DeleteFunc(algorithms.All(), func(e lock.Entry) bool { return e.OnZooKeeper() || notApplicable(e) })
	lines := slices.DeleteFunc(zookeeper.All()[:4], notApplicable) // Curator's are built on the last of these
	return slices.Concat(milestones, redis, lines)
}

func onEvent(on func(*history.Event) bool, c simulator.Choice) func(sc *race.Scenario) {
	return func(sc *race.Scenario) {
		sc.Script = func(race.Settings, int) []race.Trigger { return []race.Trigger{{On: on, Do: race.Inject(0, c)}} }
	}
}
