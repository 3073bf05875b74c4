package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var sameThread = race.Scenario{
	ID:    "same-thread",
	Race:  "R12",
	Title: race.Text{EN: "two processes whose threads have the same number", ZH: "两个进程里，持锁线程的 id 恰好相同"},
	Story: race.Text{
		EN: "c1 works in thread 17 of one machine, c2 in thread 17 of another. c1's release is slow: its lease ends, c2 gets in, and only then does the server look whose lock it is. It is 17's. With a thread's number for a token the release deletes c2's lock, in one step or in two, and c3 walks in.",
		ZH: "c1 在一台机器的 17 号线程里干活，c2 在另一台机器的 17 号线程里。c1 的释放请求很慢：租约到期，c2 进来，服务器这时才去看锁是谁的。是 17 的。拿线程号当令牌，不管一步还是两步，删掉的都是 c2 的锁，c3 跟着进来。",
	},
	Cure: race.Text{
		EN: "A token that no other process has, new for each acquire: a UUID, or 16 random bytes and more.",
		ZH: "令牌不能与别的进程相同，每次加锁都换新的：UUID，或者至少 16 字节的随机数。",
	},
	Numbers: race.Text{
		EN: "Those of late-release, but it is the first request of the release that is kept on the way, so that also a lock that looks first sees c2's lock: c1 works 9.5 s of its 10, and the request arrives when c2 is in, at about 10.5 s, or 17.5 s where the lease had been prolonged.",
		ZH: "与 late-release 相同，但被压住的是释放的第一个请求，所以先看后删的锁看到的也已经是 c2 的锁：租约 10 秒，c1 干 9.5 秒，请求在 c2 进来之后才到，约 10.5 秒，续过期的锁则是 17.5 秒。",
	},
	Settings: LateRelease.Settings,
	Needs: func(p race.Profile) race.Text {
		if !p.ChecksOwner {
			return race.Text{EN: "its release deletes without asking whose key it is, unique or not", ZH: "它释放时不问 key 是谁的就删，令牌唯一与否都一样"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		cast := LateRelease.Clients(s)
		cast[0].Thread, cast[1].Thread = "17", "17"
		return cast
	},
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Release, 1), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1) }},
			{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(1) }) }},
		}
	},
	Triggered: LateRelease.Triggered,
}

// A token that two have drawn is told as a danger to the release. Where it strikes
// depends on the lock: compare-and-delete removes the other's key; a reentrant lock
// takes the second for its owner and lets it in; and Redlock deletes with the clean-up
// of the one who was refused, before anybody releases.
var sameToken = race.Scenario{
	ID:    "same-token",
	Race:  "R12B",
	Title: race.Text{EN: "two processes draw the same random number", ZH: "两个进程抽到了同一个随机数"},
	Story: race.Text{
		EN: "The token is a random integer, as in the article, and the generators of two processes were seeded alike, or chance has it: c1 and c2 draw the same. c1's release is slow: its lease ends, c2 gets in, and the server, asked to compare, finds them equal. It deletes c2's lock, and c3 walks in. Where an owner may enter again, c2 is let in at its first attempt; and where the refused clean up behind them, it deletes c1's lock on its way out.",
		ZH: "令牌是文章里那样的随机整数，两个进程的随机数种子相同，或者就是碰巧：c1 和 c2 抽到同一个数。c1 的释放请求很慢：租约到期，c2 进来，服务器一比，相等，删掉的是 c2 的锁，c3 跟着进来。可重入的锁把 c2 当成主人，一开始就放它进来；失败后会清理的锁，c2 清理时就把 c1 的锁删了。",
	},
	Cure: race.Text{
		EN: "A token from the system's source of randomness, of 16 bytes or more, or with the process's own name in it.",
		ZH: "令牌取自系统的随机源，至少 16 字节，或者带上进程自己的标识。",
	},
	Numbers: race.Text{
		EN: "Those of same-thread; the threads differ, and both generators always give 42.",
		ZH: "与 same-thread 相同；线程号不同，而两个生成器总是给出 42。",
	},
	Settings: LateRelease.Settings,
	Needs:    sameThread.Needs,
	Clients: func(s race.Settings) []race.Client {
		cast := LateRelease.Clients(s)
		cast[0].Token, cast[1].Token = "42", "42"
		return cast
	},
	Script: sameThread.Script,
	Triggered: func(h *history.History) bool {
		mistaken := func(e *history.Event) bool { // for c1, while that is inside
			return race.Event(history.Enter, 2)(e) || e.Kind == history.Change && e.Client == 2 && e.Key == client.Key && e.Before != ""
		}
		return LateRelease.Triggered(h) || race.InOrder(h, race.Event(history.Enter, 1), mistaken, race.Event(history.Leave, 1))
	},
}
