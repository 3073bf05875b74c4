package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var clientSkew = race.Scenario{
	ID:    "client-skew",
	Race:  "R09",
	Title: race.Text{EN: "one client's clock is ahead of the others'", ZH: "一个客户端的时钟比别人快"},
	Story: race.Text{
		EN: "c2's clock is ahead by one and a half leases. c1 holds the lock in good order. A lock that compares timestamps lets c2 see c1's as long past, and take over; one whose lease the server counts does not care.",
		ZH: "c2 的时钟快了一个半租约，c1 正常持有锁。靠比较时间戳的锁，会让 c2 认为 c1 的锁早已超时而接管；由服务器计算过期时间的锁不受影响。",
	},
	Cure: race.Text{
		EN: "Let the server count the lease: no client's clock in the value.",
		ZH: "让服务器来计算过期：值里不要放客户端的时钟。",
	},
	Numbers: race.Text{
		EN: "Any skew larger than what remains of the lease will do; 15 s is larger than the whole lease of 10 s, so the moment does not matter. c1 works 5 s; c2 first asks after half a second and, where that lets it in, stays until c1 has gone.",
		ZH: "只要偏差大于租约的剩余时间就会出事；15 秒大于整个 10 秒租约，所以与时机无关。c1 干 5 秒；c2 半秒后开始抢锁，如果当时就被放进来，会一直待到 c1 离开之后。",
	},
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Skew = race.Seconds(15) }),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL * 2 / 5, Skew: s.Skew},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), func(e *history.Event) bool {
			return e.Kind == history.Acquire && e.Client == 2 && e.Skew > 0
		}, race.Event(history.Leave, 1))
	},
}

var clientBehind = race.Scenario{
	ID:    "client-behind",
	Race:  "R09B",
	Title: race.Text{EN: "the holder's clock is behind the others' and the server's", ZH: "持有者的时钟比别人和服务器都慢"},
	Story: race.Text{
		EN: "c1's clock is behind by one and a half leases, and c1 acquires the lock. A stamp that it computes has lapsed for everybody else, so c2 takes over. Where c1 tells the server the instant at which the lease is to end, that instant is past: the server answers OK and keeps no key, a lock that has never existed.",
		ZH: "c1 的时钟慢了一个半租约，由它来加锁。它算出的时间戳在别人眼里早已超时，c2 随即接管。如果 c1 告诉服务器的是租约结束的时刻，那一刻已经过去：服务器回答 OK，却不会留下 key，这把锁从未存在过。",
	},
	Cure: race.Text{
		EN: "Give the server a length (PX), not an instant (PXAT) that two clocks have to agree on.",
		ZH: "告诉服务器时长（PX），而不是需要两个时钟一致的时刻（PXAT）。",
	},
	Numbers: race.Text{
		EN: "15 s is larger than the lease of 10 s, so the lease ends before it has begun. c1 works 5 s; c2 asks after half a second and, where that lets it in, stays until c1 has gone.",
		ZH: "15 秒大于 10 秒租约，所以租约还没开始就已结束。c1 干 5 秒；c2 半秒后抢锁，如果被放进来，会一直待到 c1 离开之后。",
	},
	AllowsShared: true,
	Settings:     clientSkew.Settings,
	Clients: func(s race.Settings) []race.Client {
		cast := losing(s)
		cast[0].Skew = -s.Skew
		return cast
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, func(e *history.Event) bool {
			return e.Kind == history.Enter && e.Client == 1 && e.Skew < 0
		}, race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
	},
}
