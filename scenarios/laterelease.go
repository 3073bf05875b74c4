package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var LateRelease = race.Scenario{
	ID:    "late-release",
	Race:  "R04",
	Title: race.Text{EN: "the release arrives after the lock has become somebody else's", ZH: "释放命令到达时，锁已经是别人的了"},
	Story: race.Text{
		EN: "c1 is done just before its lease ends and sends its release. The request is slow: the lease ends, c2 gets in, and only then does the release arrive. A lock that looks whose it is and deletes in one step is safe here; one that looks first and deletes later is not.",
		ZH: "c1 赶在租约结束前发出释放请求，但请求在路上很慢：租约到期，c2 进来，释放请求才到。判断归属和删除是一步完成的锁在这里是安全的；先判断、后删除的不是。",
	},
	Cure: race.Text{
		EN: "Compare and delete in one step on the server: a script, DELEX IFEQ, or WATCH with MULTI.",
		ZH: "在服务器上一步完成比较和删除：脚本、DELEX IFEQ，或 WATCH 加 MULTI。",
	},
	Numbers: race.Text{
		EN: "c1 works 9.5 s of its 10, and from the request that deletes on, all that it sends is kept on the way until c2 is in: at about 10.5 s, or 17.5 s where the lease had been prolonged. Clients wait 20 s for an answer, so that c1 has not given up by then. c3 asks soon after c2 has got in: had the release removed c2's lock, it would walk in.",
		ZH: "租约 10 秒，c1 干 9.5 秒，从负责删除的那个请求开始，它发出的一切都被压到 c2 进来之后才到：约 10.5 秒，续过期的锁则是 17.5 秒。客户端等待应答的超时为 20 秒，所以 c1 此时还没有放弃。c3 在 c2 进来之后不久开始抢锁：如果释放误删了 c2 的锁，它就会跟着进来。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Timeout = 3, race.Seconds(20) }),
	Needs: func(p race.Profile) race.Text {
		if !p.ChecksOwner {
			return race.Text{EN: "its release deletes without looking, so there is no window between the look and the deletion", ZH: "它释放时不看就删，不存在查看与删除之间的空隙"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL*19/20 - s.Retry/100},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
			{Start: s.TTL + s.Retry*13/20, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Release, 1), Do: func(*schedule.Stage, *history.Event) {}},
			{On: deletes, Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1) }},
			{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(1) }) }},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Release, 1), race.Event(history.Enter, 2), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 1
		})
	},
}

// deletes names the request of c1 that may delete: in a release that looks first,
// the one after the look.
func deletes(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Node != history.Resource && !race.Sends(1, "WATCH", "GET")(e)
}
