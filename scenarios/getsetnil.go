package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var getsetNil = race.Scenario{
	ID:    "getset-nil",
	Race:  "R06",
	Title: race.Text{EN: "GETSET finds nothing, and what it leaves behind is nobody's", ZH: "GETSET 返回 nil，写下的值却不属于任何人"},
	Story: race.Text{
		EN: "c2 reads a lapsed timestamp and sends GETSET to take the lock over. Before that arrives, c1 deletes its key. GETSET returns nil, c2 takes that for a defeat, and yet its timestamp is in the key: everybody waits, for one lease, for a lock that nobody has.",
		ZH: "c2 读到一个已超时的时间戳，发出 GETSET 准备接管。GETSET 到达之前，c1 删掉了自己的 key。GETSET 返回 nil，c2 认为没抢到，但它的时间戳已经写进去了：整整一个租约里，所有人都在等一把没有人持有的锁。",
	},
	Cure: race.Text{
		EN: "Take a GETSET that finds nothing for what it is: the lock is now yours. Better: no takeover by timestamps at all.",
		ZH: "GETSET 返回 nil 就是拿到了锁，要按拿到处理。更好的做法是根本不用时间戳接管。",
	},
	Numbers: race.Text{
		EN: "c1 works 11.3 s on a lease of 10 s; c2 asks at 10.1 s, or at 11.1 s where stamps count whole seconds, finds the timestamp lapsed, and its GETSET is kept on the way until ten milliseconds after c1's DEL has run. c3 comes at 11.6 s and shows that the lock is refused from then on.",
		ZH: "租约 10 秒，c1 干 11.3 秒；c2 在 10.1 秒（时间戳以秒为单位时在 11.1 秒）发现时间戳超时，它的 GETSET 被压到 c1 的 DEL 之后 10 毫秒才执行。c3 在 11.6 秒到来，用来证明此后锁一直被拒绝。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs: func(p race.Profile) race.Text {
		if why := swaps(p); why != (race.Text{}) {
			return why
		}
		if !p.NeverExpires {
			return race.Text{EN: "its key is gone when its stamp has lapsed", ZH: "时间戳超时之时，它的 key 也已经没了"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL + s.Retry*13/10},
			{Start: s.Retry / 10, Work: s.Retry},
			{Start: s.TTL + s.Retry*16/10, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Sends(2, "GETSET"), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
			{On: removes(1), Do: func(st *schedule.Stage, _ *history.Event) { st.After(s.Retry/100, func() { st.Thaw(2) }) }},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Sends(2, "GETSET"), removes(1), func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 2 && e.Cmd[0] == "GETSET" && e.Reply == "(nil)"
		})
	},
}

// removes names the moment at which a client's command has deleted the lock.
func removes(c int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Change && e.Client == c && e.Key == client.Key && e.After == ""
	}
}
