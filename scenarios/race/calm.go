package race

import "locklab/simulator/history"

var Calm = Scenario{
	ID:    "calm",
	Race:  "R00",
	Title: Text{EN: "nothing goes wrong: two processes want the lock", ZH: "一切正常：两个进程来抢同一把锁"},
	Story: Text{
		EN: "c1 has the lock and works. c2, another process on another machine, asks, is refused, and asks again until c1 is done. Nobody dies, nobody sleeps, nothing is lost. What does not hold here is no lock.",
		ZH: "c1 拿着锁干活。另一台机器上的另一个进程 c2 来要锁，被拒绝，就一直重试到 c1 干完。没有人崩溃，没有停顿，什么都没丢。在这里都守不住的，不算锁。",
	},
	Cure: Text{
		EN: "Ask a server that all processes share, at each attempt, and believe its answer.",
		ZH: "每次都去问所有进程共用的服务器，并且以它的回答为准。",
	},
	Numbers: Text{
		EN: "c1 works for half a lease, five seconds; c2 comes half a second later and asks every second.",
		ZH: "c1 干活半个租约，5 秒；c2 晚来半秒，每秒重试一次。",
	},
	AllowsShared:        true,
	Settings:            Standard(),
	IncludeNonExclusive: true,
	Clients: func(s Settings) []Client {
		return []Client{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: func(h *history.History) bool {
		return InOrder(h, Event(history.Enter, 1), EventOfOther(history.Acquire, 1), Event(history.Leave, 1))
	},
}
