package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var slowWork = race.Scenario{
	ID:    "slow-work",
	Race:  "R03",
	Title: race.Text{EN: "the work takes longer than the lease, and then the lock is released", ZH: "业务耗时超过租约，干完又去释放锁"},
	Story: race.Text{
		EN: "c1 works for one and a half leases. Its lock ends under it and c2 gets in. When c1 is done it gives back a lock that is no longer its own; if that removes c2's, c3 walks in beside c2.",
		ZH: "c1 的业务执行了一个半租约。锁在它手里过期，c2 进来。c1 干完活去释放的已经不是自己的锁；如果它删掉了 c2 的锁，c3 又会和 c2 同时进来。",
	},
	Cure: race.Text{
		EN: "Renew the lease while the work lasts, or stop the work when the lease ends; and delete by comparing with a token of one's own.",
		ZH: "业务没完就续期，或者租约一到就停下业务；删除时必须先比对自己的令牌。",
	},
	Numbers: race.Text{
		EN: "c1 works 15 s on a lease of 10 s. c2 gets in soon after 10 s and stays 8 s, so it is inside when c1 releases at 15 s; c3 begins to ask just before that.",
		ZH: "租约 10 秒，c1 干 15 秒。c2 在 10 秒后进来并停留 8 秒，所以 15 秒时 c1 释放锁，c2 还在里面；c3 在此之前开始抢锁。",
	},
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL * 3 / 2},
			{Start: s.Retry / 2, Work: s.TTL * 2 / 5, Tail: s.TTL * 2 / 5},
			{Start: s.TTL*3/2 - s.Retry*3/10, Work: s.Retry, Tail: s.Retry},
		}
	},
	Triggered: func(h *history.History) bool {
		begin := history.Forever
		for i := range h.Events {
			e := &h.Events[i]
			if e.Client == 1 && e.Kind == history.Enter {
				begin = e.At
			}
			if e.Client != 1 && e.Kind == history.Acquire && e.At-h.TTL > begin {
				return true // c1 is still inside: it leaves only after one and a half leases
			}
			if e.Client == 1 && e.Kind == history.Leave {
				begin = history.Forever
			}
		}
		return false
	},
}
