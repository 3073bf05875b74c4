package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var crashHolding = race.Scenario{
	ID:    "crash-holding",
	Race:  "R01",
	Title: race.Text{EN: "the holder dies and cannot give the lock back", ZH: "持有者崩溃，锁无法归还"},
	Story: race.Text{
		EN: "c1 takes the lock and is killed in the middle of its work. c2 keeps asking. What nobody gives back must end by itself, or it never ends.",
		ZH: "c1 拿到锁，业务执行到一半进程被杀。c2 一直重试。没有人释放的锁，要么自己到期，要么永远存在。",
	},
	Cure: race.Text{
		EN: "A time to live, set in the command that takes the lock; renewal, where it exists, must die with its process.",
		ZH: "过期时间要和加锁写在同一条命令里；如果有续期，续期必须随进程一起死掉。",
	},
	Numbers: race.Text{
		EN: "The crash comes one second into the lease of ten, so that almost all of the lease is left to be waited for.",
		ZH: "崩溃发生在 10 秒租约的第 1 秒，几乎整个租约都要由别人来等。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.TTL/10, faults.CrashOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Crash, 1), race.EventOfOther(history.Acquire, 1))
	},
}

var crashBeforeExpire = race.Scenario{
	ID:    "crash-before-expire",
	Race:  "R02",
	Title: race.Text{EN: "the client dies between SETNX and EXPIRE", ZH: "客户端在 SETNX 与 EXPIRE 之间崩溃"},
	Story: race.Text{
		EN: "c1's SETNX makes the key. Before its EXPIRE leaves, c1 is killed. The key has no time to live, and nobody is left to give it one.",
		ZH: "c1 的 SETNX 已经在服务器上创建了 key，EXPIRE 还没发出，进程就被杀了。key 没有过期时间，也没有人再来设置。",
	},
	Cure: race.Text{
		EN: "One command for value and time to live: SET NX PX, or a script.",
		ZH: "值和过期时间用一条命令写入：SET NX PX，或者一段脚本。",
	},
	Numbers: race.Text{
		EN: "The crash comes at the instant at which the server has executed the SETNX: the last moment at which the second command has certainly not been sent.",
		ZH: "崩溃发生在服务器执行完 SETNX 的那一刻：此时第二条命令一定还没有发出。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs: func(p race.Profile) race.Text {
		if !p.TwoSteps {
			return race.Text{EN: "it never leaves a key without a time to live between two commands of one acquire", ZH: "它加锁的两条命令之间，从不会留下没有过期时间的 key"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: LeavesBare, Do: func(st *schedule.Stage, _ *history.Event) { st.Inject(0, faults.CrashOf(1)) }}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, bounds, LeavesBare, race.Event(history.Crash, 1), race.EventOfOther(history.Acquire, 1))
	},
}

// bounds names the moment at which c1's key gets an end after all.
func bounds(e *history.Event) bool {
	return e.Kind == history.Change && e.Client == 1 && e.Key == client.Key && e.Until != history.Forever
}

// leavesBare names the moment at which c1 has made a key that does not expire.
func LeavesBare(e *history.Event) bool {
	return e.Kind == history.Change && e.Client == 1 && e.Key == client.Key && e.Before == "" && e.Until == history.Forever
}
