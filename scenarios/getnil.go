package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// keptGet keeps c2's look at the key on the way until c1 has deleted it.
func KeptGet(s race.Settings) []race.Trigger {
	return []race.Trigger{
		{On: race.Sends(2, "GET"), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
		{On: removes(1), Do: func(st *schedule.Stage, _ *history.Event) { st.After(s.Retry/100, func() { st.Thaw(2) }) }},
	}
}

// findsNothing names the moment at which c2's look finds no key.
func findsNothing(e *history.Event) bool {
	return race.Applies(2, "GET")(e) && e.Reply == "(nil)"
}

var getNil = race.Scenario{
	ID:    "get-nil",
	Race:  "R07",
	Title: race.Text{EN: "SETNX is refused, and the GET after it finds nothing", ZH: "SETNX 失败，紧接着的 GET 却什么都没查到"},
	Story: race.Text{
		EN: "c2's SETNX is refused, since c1 has the lock. c2 looks how old it is; but before its GET arrives, c1 has released. The lock is free, and what c2 makes of that differs: back to SETNX, on to GETSET as if the lock had lapsed, or one needless refusal.",
		ZH: "c1 持有锁，c2 的 SETNX 失败。c2 要看看锁有多旧；GET 到达之前，c1 已经释放了。锁是空闲的，各家的处理不同：回去重新 SETNX；当作超时继续 GETSET；或者直接返回失败，白等一次。",
	},
	Cure: race.Text{
		EN: "Nothing is broken here yet. Go back to SETNX: it cannot overwrite whoever comes in between.",
		ZH: "到这里还没有出错。应当回到 SETNX：就算中间有人进来，也不会覆盖别人的值。",
	},
	Numbers: race.Text{
		EN: "c1 works for one second. c2 asks a tenth of a second before it is done, and its GET is kept on the way until ten milliseconds after c1's DEL has run. c3 comes at 1.5 s and shows that it is a real lock that c2 has then.",
		ZH: "c1 干 1 秒。c2 在它干完前 0.1 秒来抢锁，它的 GET 被压到 c1 的 DEL 之后 10 毫秒才执行。c3 在 1.5 秒到来，用来证明 c2 这时拿到的是一把真锁。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    takesOver,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry * 2},
			{Start: s.Retry * 3 / 2, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger { return KeptGet(s) },
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Sends(2, "GET"), removes(1), findsNothing, race.Event(history.Acquire, 3))
	},
}

var getNilTaken = race.Scenario{
	ID:    "get-nil-taken",
	Race:  "R07B",
	Title: race.Text{EN: "the GET finds nothing, and before the next command somebody has locked", ZH: "GET 什么都没查到，下一条命令之前又有人加了锁"},
	Story: race.Text{
		EN: "As get-nil, but c3 comes between c2's GET and what c2 sends next. Who goes back to SETNX is refused, and that is all. Who goes on to GETSET is refused as well, and has replaced the stamp of c3, which has the lock and knows nothing of it.",
		ZH: "与 get-nil 相同，但 c3 赶在 c2 的 GET 和下一条命令之间进来。回到 SETNX 的，失败了事。继续 GETSET 的也失败，却把 c3 的时间戳换掉了，而 c3 正拿着锁，毫不知情。",
	},
	Cure: race.Text{
		EN: "After a GET that finds nothing, go back to SETNX, which changes nothing when it fails.",
		ZH: "GET 返回 nil 之后回到 SETNX，它失败时什么都不改。",
	},
	Numbers: race.Text{
		EN: "As get-nil, but c2's next command is kept on the way, too, until c3 is in, which asks 40 ms after c2's GET was let go. c3 works for three seconds, far less than its lease.",
		ZH: "与 get-nil 相同，但 c2 的下一条命令也被压到 c3 进去之后；c3 在 c2 的 GET 放行 40 毫秒之后来抢锁，干 3 秒，远短于租约。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    takesOver,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry},
			{Start: s.Retry * 9 / 10, Work: s.Retry},
			{Start: s.Retry * 21 / 20, Work: s.Retry * 3},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return append(KeptGet(s),
			race.Trigger{On: findsNothing, Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
			race.Trigger{On: race.Event(history.Enter, 3), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(2) }) }})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), removes(1), findsNothing, race.Event(history.Enter, 3), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 2
		}, race.Event(history.Leave, 3))
	},
}
