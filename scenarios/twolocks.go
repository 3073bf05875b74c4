package scenarios

import (
	"context"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

var OppositeOrder = race.Scenario{
	ID:    "opposite-order",
	Race:  "R46",
	Title: race.Text{EN: "two processes take the same two locks in opposite order", ZH: "两个进程以相反的顺序获取同样两把锁"},
	Story: race.Text{
		EN: "c1 needs the lock and another one, c2 the same two the other way round. Each has its first and waits for the other's. Each is inside only when it has both: until then its attempt is refused, and it keeps what it has. Without an end they wait for ever. A lease breaks the deadlock, and at a price: who then gets the second lock does not hear that his first has gone, or will go soon. A watchdog keeps both leases alive, and the deadlock with them.",
		ZH: "c1 要先拿这把锁再拿另一把，c2 要的是同样两把，顺序相反。各自拿到第一把，等着对方手里的那把。两把都到手才算进了临界区：在此之前，尝试被拒绝，已有的不放。锁没有过期时间，就永远等下去。租约能打破死锁，但有代价：等到第二把锁的人，没人告诉他第一把已经没了，或者马上要没了。看门狗让两边的租约一直续着，死锁也就一直续着。",
	},
	Cure: race.Text{
		EN: "One order of all locks, for everybody; or give back what one has when the next is refused.",
		ZH: "所有人按同一个顺序加锁；或者下一把被拒绝时，先放掉手里的。",
	},
	Numbers: race.Text{
		EN: "c1 has its first lock at once and c2 half a second later; a second after that each asks for the other's, and then every second. The leases end half a second apart, just before the next attempts. Only the lock that c1 takes first is judged; the other one lies on the same servers.",
		ZH: "c1 立刻拿到第一把锁，c2 晚半秒；各自 1 秒后去要对方的那把，之后每秒一次。两个租约先后相差半秒到期，正好在下一次尝试之前。判定只看 c1 先拿的那把锁；另一把在同样的服务器上。",
	},
	Settings: race.Standard(),
	Needs: func(p race.Profile) race.Text {
		if !p.LocksPerKey {
			return race.Text{EN: "it takes a second key for locked and asks nobody: see R13E", ZH: "它不问任何人就把第二个 key 当成已锁住：见 R13E"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 2, Tail: s.Retry, Play: InOrder(client.Key, client.OtherKey)},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry, Play: InOrder(client.OtherKey, client.Key)},
		}
	},
	Triggered: func(h *history.History) bool {
		enters := func(e *history.Event) bool { return e.Kind == history.Enter }
		makesOther := func(e *history.Event) bool {
			return e.Kind == history.Change && e.Client == 2 && e.Key == client.OtherKey && e.Before == ""
		}
		return race.InOrderWithout(h, enters, race.CreatesKey(1), makesOther, race.Event(history.Refuse, 1), race.Event(history.Refuse, 2))
	},
}

// inOrder is a client that needs two locks and takes them in this order. It is
// inside when it has both.
func InOrder(keys ...string) func(a *race.ClientRun) {
	return func(a *race.ClientRun) {
		var judged lock.Lease
		var leases []lock.Lease
		ask := func() { a.Record(history.Event{Kind: history.Acquire}) }
		ask()
		for i, k := range keys {
			if i > 0 {
				a.Clock().Sleep(a.Def.Retry)
			}
			lease, err := a.Lock.Acquire(context.Background(), k)
			for err != nil {
				a.Record(history.Event{Kind: history.Refuse, Note: client.Note(err)})
				a.Clock().Sleep(a.Def.Retry)
				ask()
				lease, err = a.Lock.Acquire(context.Background(), k)
			}
			if k == client.Key {
				judged = lease
			} else {
				leases = append(leases, lease)
			}
		}
		a.Record(history.Event{Kind: history.Enter, Token: client.FencingToken(judged)})
		client.Work(a.Client, judged, a.Def.Section())
		for _, l := range leases {
			_ = l.Release(context.Background()) // only the lock is judged
		}
		client.Release(a.Client, judged)
	}
}
