package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

var noFinally = race.Scenario{
	ID:    "no-finally",
	Race:  "R45",
	Title: race.Text{EN: "the release is in no finally, and the program goes on to its next attempt", ZH: "释放没有写在 finally 里，程序又去抢下一次锁"},
	Story: race.Text{
		EN: "An exception ends c1's work, and the line that releases comes after it, in no finally. Somebody catches it further up and the program goes on: some time later c1 asks for the same lock again. Its first lock is still there. A plain lock refuses its own owner like anybody else; a reentrant one lets it in a second time, counts two, and one release is one too few.",
		ZH: "c1 的业务抛了异常，释放锁的那一行写在后面，没有放进 finally。异常在上层被捕获，程序继续跑，过一会儿 c1 又来抢同一把锁，而它上一次的锁还在。普通的锁对它和对别人一样：拒绝；可重入的锁让它再进一次，计数变成二，之后只释放一次，少了一次。",
	},
	Cure: race.Text{
		EN: "Release in finally, in the method that has acquired. A time to live for all that is forgotten; and a renewal that ends with the work, not with the process.",
		ZH: "在加锁的那个方法里用 finally 释放。忘掉的靠过期时间兜底；续期要随业务结束，而不是随进程结束。",
	},
	Numbers: race.Text{
		EN: "The exception comes one second into the lease of ten, and c1 asks again at three seconds, well within it. c2 asks from half a second on. Six leases tell waiting from waiting for ever.",
		ZH: "异常发生在 10 秒租约的第 1 秒，c1 在第 3 秒再来，仍在租约之内。c2 从 0.5 秒起一直在抢。六个租约足以区分等一会儿和一直等。",
	},
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Play: func(a *race.ClientRun) {
				failing := a.Def
				failing.Fails = true
				client.Work(a.Client, client.Acquire(a.Client, a.Lock, a.Def.Retry), failing.Section())
				a.Clock().Sleep(s.Retry * 2)
				a.Play()
			}},
			{Start: s.Retry / 2, Work: s.Retry},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), func(e *history.Event) bool {
			return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
		}, race.EventOfOther(history.Acquire, 1), race.Event(history.Acquire, 1))
	},
}
