package scenarios

import (
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var lateRelease = Scenario{
	ID:    "late-release",
	Race:  "R04",
	Title: "the release arrives after the lock has become somebody else's",
	Story: Text{
		EN: "c1 is done just before its lease ends and sends its release. The request is slow: the lease ends, c2 gets in, and only then does the release arrive. A lock that looks whose it is and deletes in one step is safe here; one that looks first and deletes later is not.",
		ZH: "c1 赶在租约结束前发出释放请求，但请求在路上很慢：租约到期，c2 进来，释放请求才到。判断归属和删除是一步完成的锁在这里是安全的；先判断、后删除的不是。",
	},
	Numbers: Text{
		EN: "c1 works 9.5 s of its 10. c2 asks each second and gets in at about 10.5 s, a good second before c1 would stop waiting for its answer.",
		ZH: "租约 10 秒，c1 干 9.5 秒。c2 每秒尝试一次，约 10.5 秒进来，此时 c1 还在等待应答。",
	},
	Settings: with(func(s *Settings) { s.Clients = 3 }),
	Needs: func(p Profile) string {
		if !p.Looks {
			return "its release deletes without looking, so there is no window between the look and the deletion"
		}
		return ""
	},
	Cast: func(s Settings) []Role {
		return []Role{
			{Work: s.TTL*19/20 - s.Retry/100},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
			{Start: s.TTL, Retry: s.Retry * 7 / 10, Work: s.Retry},
		}
	},
	Script: func(s Settings, _ int) []Beat {
		return []Beat{
			{On: kind(history.Release, 1), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1) }},
			{On: kind(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(1) }) }},
		}
	},
	Struck: func(h *history.History) bool {
		return then(h, kind(history.Release, 1), kind(history.Enter, 2), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 1
		})
	},
}
