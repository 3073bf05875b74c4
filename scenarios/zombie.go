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
	ID:    "zombie-daemon",
	Race:  "R14C",
	Title: race.Text{EN: "a daemon that nobody has ended comes upon somebody else's lease", ZH: "没人关掉的守护线程，续到了别人的租约上"},
	Story: race.Text{
		EN: "An exception ends c1's business, and its daemon lives on. The process stands still until the lease has ended, so that c2 gets in. Then c1's daemon wakes and sends what is due. If it does not ask whose key it is, it gives c2's lease the end that it meant for c1's; where that is earlier, c3 gets in while c2, well within its own lease, is still inside.",
		ZH: "c1 的业务抛异常退出，守护线程还活着。进程停顿到租约到期，c2 进来。然后 c1 的守护线程醒来，补发早该发的续期。它若不问 key 是谁的，就把给 c1 定的期限套在了 c2 的租约上；如果反而更短，c2 还在自己的租约之内干活，c3 就进来了。",
	},
	Cure: race.Text{
		EN: "Renew only one's own, by token, in one script; and end the daemon in finally.",
		ZH: "续期前比对令牌，用一段脚本只续自己的；并且在 finally 里结束守护线程。",
	},
	Numbers: race.Text{
		EN: "The exception comes at 1 s, and the pause lasts from 2 s, before anything is renewed, to 12 s. c2 gets in at 10.5 s and works for 9.5 s, so its lease of 10 s is enough. c1's daemon wakes at 12 s: one that sets two thirds of a lease lets c2's end at 18.7 s. c3 asks from 12.5 s on.",
		ZH: "异常发生在第 1 秒；停顿从 2 秒（还没有任何续期）到 12 秒。c2 在 10.5 秒进来，干 9.5 秒，10 秒租约够用。c1 的守护线程 12 秒醒来：如果它只给三分之二个租约，c2 的锁 18.7 秒就到期了。c3 从 12.5 秒开始抢锁。",
	},
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
	ID:    "zombie-keeps",
	Race:  "R14D",
	Title: race.Text{EN: "a daemon that nobody has ended keeps the lock of a dead one alive", ZH: "没人关掉的守护线程，一直替死掉的进程续着锁"},
	Story: race.Text{
		EN: "As zombie-daemon, but c2 is killed when it has just got in. Its own renewal has died with it, and its lease would end. If c1's daemon does not ask whose key it is, it keeps the lock of a dead process alive, in a process that has long finished with it.",
		ZH: "与 zombie-daemon 相同，但 c2 刚进来进程就被杀。它自己的续期随进程一起死了，租约本该到期。可 c1 的守护线程不问 key 是谁的，就一直替一个死掉的进程续着锁，而 c1 自己早就用完了。",
	},
	Cure: race.Text{
		EN: "Renew only one's own, by token, in one script; and end the daemon in finally.",
		ZH: "续期前比对令牌，用一段脚本只续自己的；并且在 finally 里结束守护线程。",
	},
	Numbers: race.Text{
		EN: "Those of zombie-daemon; c2 is killed at 11.5 s, one second after it got in and half a second before c1's daemon wakes.",
		ZH: "与 zombie-daemon 相同；c2 在 11.5 秒被杀，刚进来 1 秒，再过半秒 c1 的守护线程醒来。",
	},
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
	ID:    "renewal-in-flight",
	Race:  "R17",
	Title: race.Text{EN: "a renewal is still under way when the lock has been given back", ZH: "锁已经释放，续期命令还在路上"},
	Story: race.Text{
		EN: "c1's renewal leaves and is held up in the network. Its release, on another connection, is not: the lock is given back, and c2 gets it. Now the renewal arrives. No cancelling in c1's process could have called it back.",
		ZH: "c1 的续期命令发出后滞留在网络里；走另一条连接的释放命令却到了：锁已释放，被 c2 拿到。这时续期命令才到。在 c1 的进程里怎么取消都来不及，命令早已发出。",
	},
	Cure: race.Text{
		EN: "Let the renewal compare on the server with the token of the lease that it is for, and do nothing where that is gone. To create what is not there, or to prolong whatever is, makes a lock that nobody asked for.",
		ZH: "续期在服务器上比对自己租约的令牌，对不上就什么都不做。key 不在就创建、或者不管是谁的都续，都会弄出一把没人要过的锁。",
	},
	Numbers: race.Text{
		EN: "c1 works until just before its lease of 10 s would end without a renewal, so that every rhythm has sent one. All its renewals are held up from the first on, and arrive when c2 has got in at 10.5 s. What its main thread sends goes through.",
		ZH: "c1 一直干到租约 10 秒将要到期之前，这样各种节奏的续期都至少发出过一次。从第一次起，所有续期都滞留，直到 c2 在 10.5 秒进来后才到达。主线程发出的命令照常送达。",
	},
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
