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

// A mutant is a run that resembles a race, but does not contain what the race is about. Race.Triggered must tell them
// apart.
type mutant struct {
	raceID, mutation string
	change           func(sc *race.Race)
	harms            string // why the mutant may break locks all the same; "": it must not
	misses           bool   // a fault of the script cannot be injected
}

// faultless are the races that break locks without their script, too, with the reason.
var faultless = map[string]string{
	"getset-nil":    "c1 works longer than its lease, and the takeover succeeds",
	"same-second":   "c2's clock is wrong all the same",
	"zombie-daemon": "its watchdog keeps its lock, as in dead-business",
	"zombie-keeps":  "its watchdog keeps its lock, as in dead-business",
	"dead-process":  "it is dead-business",
}

// scripted reports whether a race needs its script to happen, whichever the lock.
func scripted(sc race.Race) bool {
	return sc.Script != nil && sc.ID != "same-token" && sc.ID != "split-vote" && sc.ID != "split-vote-spread"
}

// mutants are those beside the races without their scripts.
var mutants = []mutant{
	{raceID: "calm", mutation: "c1 is done before anybody else comes",
		change: cast(func(s race.Settings) []race.ClientSpec {
			return []race.ClientSpec{{}, {Start: s.Retry / 2, Work: s.Retry}}
		})},
	{raceID: "crash-holding", mutation: "c1 crashes when it is outside again",
		change: onEvent(race.Event(history.Leave, 1), faults.CrashOf(1)), harms: "a key without a TTL is still there"},
	{raceID: "crash-holding", mutation: "nobody asks after the crash",
		change: func(sc *race.Race) { sc.Settings.Clients = 1 }, harms: "nobody is left to find out"},
	{raceID: "crash-before-expire", mutation: "c1 crashes when EXPIRE has been executed",
		change: onEvent(race.Event(history.Enter, 1), faults.CrashOf(1)),
		harms:  "it is a crash all the same, blocked for one lease"},
	{raceID: "slow-work", mutation: "the work takes half a lease",
		change: cast(func(s race.Settings) []race.ClientSpec {
			return []race.ClientSpec{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry},
				{Start: s.Retry, Work: s.Retry}}
		})},
	{raceID: "shard-list", mutation: "the key does not move",
		change: onEvent(race.Event(history.Enter, 1), faults.ServerListOf(2, 2))},
	{raceID: "shard-list", mutation: "c1 is outside again",
		change: onEvent(race.Event(history.Leave, 1), faults.ServerListOf(2, 3))},
	{raceID: "rolling-deploy", mutation: "the new processes have the old list",
		change: clients(func(_ race.Settings, c []race.ClientSpec) { c[1].List = 2 })},
	{raceID: "rolling-deploy", mutation: "the new processes start when the old ones are done",
		change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL })},
	{raceID: "double-del", mutation: "c3 reads what c2 has written",
		change: onEvent(race.CreatesKeyWithoutTTL(1), faults.CrashOf(1))},
	{raceID: "get-nil-taken", mutation: "c3 comes when c2 has been inside", change: func(sc *race.Race) {
		clients(func(s race.Settings, c []race.ClientSpec) { c[2].Start = s.TTL })(sc)
		sc.Script = racetest.Race("get-nil").Script
	}},
	{raceID: "overwritten-stamp", mutation: "c3 reads what c2 has written",
		change: onEvent(race.CreatesKeyWithoutTTL(1), faults.CrashOf(1))},
	{raceID: "client-skew", mutation: "skew=0", change: func(sc *race.Race) { sc.Settings.Skew = 0 }},
	{raceID: "same-second", mutation: "skew=0", change: func(sc *race.Race) { sc.Settings.Skew = 0 }},
	{raceID: "foreign-shutdown", mutation: "c2 lives on",
		change: clients(func(_ race.Settings, c []race.ClientSpec) { c[1].Run = (*race.ClientRun).TryOnce })},
	{raceID: "own-shutdown", mutation: "c1 is not told to stop",
		change: clients(func(_ race.Settings, c []race.ClientSpec) { c[0].Run = nil })},
	{raceID: "same-token", mutation: "each draws its own, and the release is not delayed", change: func(sc *race.Race) {
		sc.Clients = racetest.Race("late-release").Clients
		withoutScript(sc)
	}},
	{raceID: "nested", mutation: "everybody locks once", change: runs(0, nil)},
	{raceID: "pooled-thread", mutation: "no second request comes", change: runs(0, nil)},
	{raceID: "second-try", mutation: "c1 is done before anybody else comes",
		change: cast(func(s race.Settings) []race.ClientSpec {
			return []race.ClientSpec{{}, {Start: s.Retry / 2, Work: s.Retry}}
		})},
	{raceID: "second-try", mutation: "c2 tries once only while c1 is inside",
		change: cast(func(s race.Settings) []race.ClientSpec {
			return []race.ClientSpec{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
		})},
	{raceID: "second-key", mutation: "c2 has no other key", change: runs(1, nil)},
	{raceID: "late-re-entry", mutation: "everybody locks once", change: runs(0, nil)},
	{raceID: "two-keys", mutation: "c1 takes one key only", change: runs(0, nil)},
	{raceID: "late-renewal", mutation: "pause=0", change: func(sc *race.Race) { sc.Settings.Pause = 0 }},
	{raceID: "late-renewal", mutation: "the pause is over before the renewal is due",
		change: script(func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(0, faults.PauseOf(1, s.TTL/5))}}
		})},
	{raceID: "zombie-daemon", mutation: "c1 lives and releases", change: runs(0, (*race.ClientRun).AcquireWorkRelease)},
	{raceID: "zombie-keeps", mutation: "c2 lives",
		change: func(sc *race.Race) { sc.Script = racetest.Race("zombie-daemon").Script }},
	{raceID: "dead-business", mutation: "c1 lives and releases", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.TTL / 10}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{raceID: "renewal-in-flight", mutation: "the renewal arrives before the release",
		change: script(func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.SendsBeside(1), Do: func(st *schedule.Stage, _ *history.Event) {
				st.Freeze(1)
				st.After(s.Retry, func() { st.Thaw(1) })
			}}}
		})},
	{raceID: "gc-pause", mutation: "pause=0", change: func(sc *race.Race) { sc.Settings.Pause = 0 }},
	{raceID: "gc-pause-fenced", mutation: "pause=0", change: func(sc *race.Race) { sc.Settings.Pause = 0 }},
	{raceID: "gc-pause-cas", mutation: "pause=0", change: func(sc *race.Race) { sc.Settings.Pause = 0 }},
	{raceID: "check-then-pause", mutation: "c1 does not check", change: runs(0, nil)},
	{raceID: "failover", mutation: "lag=0", change: func(sc *race.Race) { sc.Settings.Lag = 0 }},
	{raceID: "failover", mutation: "the replica is in step when the master crashes",
		change: func(sc *race.Race) { sc.Settings.Lag = 500 * time.Millisecond }},
	{raceID: "failover-behind", mutation: "the replica has received the lock when the master crashes",
		change: func(sc *race.Race) {
			sc.Settings.Lag = 90 * time.Millisecond
			sc.Script = racetest.Race("failover").Script
		}},
	{raceID: "failover-other", mutation: "the replica that has the lock is promoted",
		change: script(func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag*3/2, faults.FailoverOf(1))}}
		})},
	{raceID: "failover-other", mutation: "lag=0", change: func(sc *race.Race) { sc.Settings.Lag = 0 }},
	{raceID: "replica-gone", mutation: "the replica has no lag", change: func(sc *race.Race) { sc.Settings.Lag = 0 }},
	{raceID: "restart-everysec", mutation: "the lock is on disk when the server restarts",
		change: script(func(s race.Settings, nodes int) []race.Trigger {
			triggers := racetest.Race("restart").Script(s, nodes)
			triggers[len(triggers)-1].Do = race.Inject(2*time.Second, faults.RestartOf(race.Quorum(nodes)))
			return triggers
		})},
	{raceID: "restart-always", mutation: "the server keeps nothing",
		change: func(sc *race.Race) { sc.AOF = simulator.NoAOF }, harms: "it is restart then"},
	{raceID: "restart-delayed", mutation: "the server is back at once",
		change: func(sc *race.Race) { sc.Script = racetest.Race("restart").Script }, harms: "it is restart then"},
	{raceID: "clock-jump", mutation: "jump=0", change: func(sc *race.Race) { sc.Settings.Jump = 0 }, misses: true},
	{raceID: "clock-jump", mutation: "the jump is shorter than the lease",
		change: func(sc *race.Race) { sc.Settings.Jump = sc.Settings.TTL / 2 }},
	{raceID: "quorum-restart", mutation: "the server stays up",
		change: script(func(s race.Settings, nodes int) []race.Trigger {
			return racetest.Race("quorum-restart").Script(s, nodes)[:1]
		})},
	{raceID: "quorum-restart", mutation: "nobody is paused",
		change: onEvent(race.Event(history.Enter, 1), faults.RestartOf(3))},
	{raceID: "slow-acquire", mutation: "the answers are late by less than a lease",
		change: script(func(s race.Settings, nodes int) []race.Trigger {
			s.TTL /= 2
			return racetest.Race("slow-acquire").Script(s, nodes)
		})},
	{raceID: "pause-in-flight", mutation: "pause=0", change: func(sc *race.Race) { sc.Settings.Pause = 0 }},
	{raceID: "pause-in-flight", mutation: "c1 has its answers",
		change: onEvent(race.Event(history.Enter, 1),
			faults.PauseOf(1, racetest.Race("pause-in-flight").Settings.Pause)),
		harms: "it is gc-pause then"},
	{raceID: "clock-drift", mutation: "c1's clock is right",
		change: clients(func(_ race.Settings, c []race.ClientSpec) { c[0].PPM = 0 })},
	{raceID: "clock-drift", mutation: "nobody else asks while c1 is inside",
		change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL * 2 })},
	{raceID: "server-drift", mutation: "the servers' clocks are right",
		change: func(sc *race.Race) { sc.FastServers = false }},
	{raceID: "server-drift", mutation: "nobody else asks while c1 is inside",
		change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL * 2 })},
	{raceID: "split-vote", mutation: "all ask the servers in the same order", change: sameOrder},
	{raceID: "split-vote", mutation: "c1 comes first",
		change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start, c[2].Start = s.Retry/2, s.Retry/2 })},
	{raceID: "split-vote-spread", mutation: "all ask the servers in the same order", change: sameOrder},
	{raceID: "partial-acquire", mutation: "c1 crashes when it is inside",
		change: onEvent(race.Event(history.Enter, 1), faults.CrashOf(1)), harms: "it is crash-holding then"},
	{raceID: "client-behind", mutation: "skew=0", change: func(sc *race.Race) { sc.Settings.Skew = 0 }},
	{raceID: "dead-process", mutation: "c1 lives and releases", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.TTL / 10}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{raceID: "late-write", mutation: "the write is late, and c1 waits for it",
		change: func(sc *race.Race) { sc.Settings.Timeout = sc.Settings.TTL }},
	{raceID: "late-write", mutation: "it is the read that is late", change: onEvent(func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
	}, faults.DelayOf(1, 0, race.Seconds(6)))},
	{raceID: "split-brain", mutation: "lag=0", change: func(sc *race.Race) { sc.Settings.Lag = 0 },
		harms: "c1's release reaches the old master alone"},
	{raceID: "split-in-step", mutation: "the replica has received nothing",
		change: func(sc *race.Race) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is split-brain"},
	{raceID: "split-renewed", mutation: "the replica has received nothing",
		change: func(sc *race.Race) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is split-brain"},
	{raceID: "split-bounded", mutation: "min-replicas-to-write is 0",
		change: func(sc *race.Race) { sc.MinReplicas = 0 }, harms: "it is what bounds the split"},
	{raceID: "release-again", mutation: "c1 releases once",
		change: clients(func(_ race.Settings, c []race.ClientSpec) { c[0].Run = nil })},
	{raceID: "silent-crash", mutation: "c2 comes after the crash",
		change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL / 5 }),
		harms:  "the message does not come either way"},
	{raceID: "herd", mutation: "one waits", change: func(sc *race.Race) { sc.Settings.Clients = 2 }},
	{raceID: "overtaken", mutation: "c2 comes once",
		change: clients(func(_ race.Settings, c []race.ClientSpec) { c[1].Run = nil })},
	{raceID: "overtaken", mutation: "c2 pauses after each release",
		change: clients(func(s race.Settings, c []race.ClientSpec) {
			c[1].Run = func(a *race.ClientRun) {
				for range 15 {
					a.AcquireWorkRelease()
					a.Clock().Sleep(s.Retry * 3 / 2)
				}
			}
		})},
	{raceID: "stray-delete", mutation: "c1 has left already",
		change: script(func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Leave, 1), Do: race.Inject(0, faults.DeleteOf(1, 0))}}
		})},
	{raceID: "double-run", mutation: "skew=0", change: func(sc *race.Race) { sc.Settings.Skew = 0 }},
	{raceID: "double-run", mutation: "the clocks differ by less than the job takes",
		change: func(sc *race.Race) { sc.Settings.Skew /= 10 }},
	{raceID: "no-finally", mutation: "the release is in finally", change: cast(func(s race.Settings) []race.ClientSpec {
		return []race.ClientSpec{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
	})},
	{raceID: "no-finally", mutation: "c1 does not come back",
		change: func(sc *race.Race) { sc.Clients = racetest.Race("dead-business").Clients },
		harms:  "its lock remains all the same"},
	{raceID: "renew-held", mutation: "c2 is gone",
		change: func(sc *race.Race) { sc.Clients = racetest.Race("renew-free").Clients }},
	{raceID: "renew-free", mutation: "c2 is still inside",
		change: func(sc *race.Race) { sc.Clients = racetest.Race("renew-held").Clients }},
	{raceID: "renew-late", mutation: "the answer is late by less than a lease",
		change: script(func(s race.Settings, nodes int) []race.Trigger {
			s.TTL /= 2
			return racetest.Race("renew-late").Script(s, nodes)
		})},
	{raceID: "opposite-order", mutation: "both in the same order",
		change: runs(1, racetest.Race("opposite-order").Clients(race.Standard())[0].Run)},
	{raceID: "opposite-order", mutation: "c2 comes when c1 is done",
		change: clients(func(s race.Settings, c []race.ClientSpec) { c[1].Start = s.TTL * 3 / 4 })},
	{raceID: "script-cache-lost", mutation: "the replica has received nothing",
		change: func(sc *race.Race) { sc.Settings.Lag = sc.Settings.TTL }, harms: "it is failover then"},
	{raceID: "late-answer", mutation: "the pause is shorter than the timeout",
		change: func(sc *race.Race) { sc.Settings.Pause, sc.Settings.Timeout = race.Seconds(2), race.Seconds(3) },
		misses: true},
	{raceID: "late-answer", mutation: "c1 is paused before it has asked",
		change: onEvent(race.Event(history.Acquire, 1), faults.PauseOf(1, race.Seconds(2)))},
	{raceID: "two-pauses", mutation: "only the first",
		change: onEvent(race.Event(history.Enter, 1), faults.PauseOf(1, racetest.Race("two-pauses").Settings.Pause))},
	{raceID: "two-pauses", mutation: "only the second", change: script(func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))}}
	})},
	{raceID: "two-pauses", mutation: "pause=0", change: func(sc *race.Race) { sc.Settings.Pause = 0 }},
	{raceID: "failover-in-step", mutation: "the replica has received nothing", change: func(sc *race.Race) {
		sc.Settings.Lag = time.Second
		onEvent(race.CreatesKey(1), faults.FailoverOf(1))(sc)
	}},
	{raceID: "failover-in-step", mutation: "c1 has its answer",
		change: onEvent(race.Event(history.Enter, 1), faults.FailoverOf(1))},
	{raceID: "undone-release", mutation: "the replica has received the release",
		change: func(sc *race.Race) { sc.Settings.Lag = 0 }},
	{raceID: "undone-release", mutation: "the replica has never received the lock",
		change: func(sc *race.Race) { sc.Settings.Lag = sc.Settings.TTL }},
	{raceID: "quorum-failover", mutation: "the master lives", change: func(sc *race.Race) {
		script := sc.Script
		sc.Script = func(s race.Settings, nodes int) []race.Trigger {
			triggers := script(s, nodes)
			return triggers[:len(triggers)-1]
		}
	}},
	{raceID: "quorum-failover", mutation: "lag=0", change: func(sc *race.Race) { sc.Settings.Lag = 0 }},
	{raceID: "failover-fenced", mutation: "lag=0", change: func(sc *race.Race) { sc.Settings.Lag = 0 }},
	{raceID: "watch-herd", mutation: "c5 comes when c1 has gone", change: starts(4, race.Seconds(3))},
	{raceID: "watch-herd", mutation: "nobody waits in the queue", change: withoutPatience},
	{raceID: "in-line", mutation: "c1 comes when c2 has gone", change: starts(0, race.Seconds(30))},
	{raceID: "lost-create", mutation: "it is the request that is lost", change: func(sc *race.Race) {
		sc.Budget = race.FixedBudget("lose-request=1")
		onEvent(race.Sends(1, "CREATE"), faults.LoseRequestOf(1, 0))(sc)
	}},
	{raceID: "session-pause", mutation: "the pause is shorter than a session lasts",
		change: func(sc *race.Race) { sc.Settings.Pause = sc.Settings.TTL / 2 }},
	{raceID: "session-ends", mutation: "it ends when c1 is outside",
		change: onEvent(race.Event(history.Leave, 1), faults.ExpireSessionOf(1))},
	{raceID: "suspended", mutation: "c1 does not ask", change: runs(0, nil)},
	{raceID: "waiter-dies", mutation: "nobody waits behind c2",
		change: func(sc *race.Race) { sc.Settings.Clients = 2 }},
	{raceID: "waiter-leaves", mutation: "c2 has patience",
		change: func(sc *race.Race) { sc.Clients = racetest.Race("waiter-dies").Clients }},
	{raceID: "waiter-leaves", mutation: "nobody waits behind c2",
		change: func(sc *race.Race) { sc.Settings.Clients = 2 }},
	{raceID: "numbers-end", mutation: "the counter begins at 0",
		change: func(sc *race.Race) { sc.SequenceExhausted = false }},
}

// clients changes the clients.
func clients(change func(s race.Settings, c []race.ClientSpec)) func(sc *race.Race) {
	return func(sc *race.Race) {
		original := sc.Clients
		sc.Clients = func(s race.Settings) []race.ClientSpec {
			c := original(s)
			change(s, c)
			return c
		}
	}
}

// cast gives a race other clients, and script another script.
func cast(clients func(s race.Settings) []race.ClientSpec) func(sc *race.Race) {
	return func(sc *race.Race) { sc.Clients = clients }
}

func script(script func(s race.Settings, nodes int) []race.Trigger) func(sc *race.Race) {
	return func(sc *race.Race) { sc.Script = script }
}

// runs gives one client, counted from 0, another program, and no exception.
func runs(client int, run func(*race.ClientRun)) func(sc *race.Race) {
	return clients(func(_ race.Settings, c []race.ClientSpec) { c[client].Run, c[client].Fails = run, false })
}

// starts gives one client, counted from 0, another start.
func starts(client int, at time.Duration) func(sc *race.Race) {
	return clients(func(_ race.Settings, c []race.ClientSpec) { c[client].Start = at })
}

// withoutPatience lets no client wait in the queue.
func withoutPatience(sc *race.Race) {
	clients(func(_ race.Settings, c []race.ClientSpec) {
		for i := range c {
			c[i].Patience = 0
		}
	})(sc)
}

// sameOrder makes all clients ask the servers in the same order.
func sameOrder(sc *race.Race) {
	clients(func(_ race.Settings, c []race.ClientSpec) {
		for i := range c {
			c[i].First = 0
		}
	})(sc)
}

func withoutScript(sc *race.Race) { sc.Script = nil }

// TestTriggeredCanFail: in a run of a mutant the race is not reached, whichever lock
// is played, and the verdict is VACUOUS.
func TestTriggeredCanFail(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	t.Parallel()
	covered, all := map[string]bool{}, mutants
	for _, sc := range scenarios.All() {
		if scripted(sc) {
			all = append(all, mutant{raceID: sc.ID, mutation: "nothing goes wrong", change: withoutScript,
				harms: faultless[sc.ID]})
		}
	}
	for _, m := range all {
		covered[m.raceID] = true
		played := 0
		_, original := racetest.Cell(t, "token", m.raceID)
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
			if o.Triggered {
				t.Errorf("%s in %s, %s: and yet it counts as reached", e.ID, sc.ID, m.mutation)
			}
			if w := o.Verdicts[0]; w != verdict.Vacuous && (m.harms == "" || !w.Broken()) {
				// broken without the fault: the race would not prove what its title says
				t.Errorf("%s in %s, %s: %v, want VACUOUS", e.ID, sc.ID, m.mutation, o.Verdicts)
			}
		}
		if played == 0 {
			t.Errorf("%s: no lock plays it", m.raceID)
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

// representatives are the locks to play in a race: the milestones, and where it
// applies to none of them, the locks to which it applies.
func representatives(t testing.TB, sc race.Race) []lock.Entry {
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

func onEvent(on func(*history.Event) bool, c simulator.Choice) func(sc *race.Race) {
	return func(sc *race.Race) {
		sc.Script = func(race.Settings, int) []race.Trigger { return []race.Trigger{{On: on, Do: race.Inject(0, c)}} }
	}
}
