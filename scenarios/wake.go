package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// What becomes of those who do not ask again and again, but wait for the message that
// a release publishes.

var missedWake = race.Scenario{
	ID:    "missed-wake",
	Race:  "R35",
	Title: race.Text{EN: "the lock is released before the waiter has subscribed", ZH: "等待者还没订阅，锁就释放了"},
	Story: race.Text{
		EN: "c2 is refused and subscribes to the lock's channel. While its SUBSCRIBE is on the way c1 releases and publishes: to nobody. A message that nobody hears is lost for ever. Who tries again after subscribing finds the lock free. Who only waits now waits beside a free lock.",
		ZH: "c2 没抢到锁，去订阅锁的频道。SUBSCRIBE 还在路上，c1 释放锁并发布消息：没有人在听。没人听到的消息就永远没了。订阅之后再试一次的，会发现锁空着；只管等消息的，就守着一把空锁等下去。",
	},
	Cure: race.Text{
		EN: "Subscribe first, then try again, and only then wait, as Redisson does; and never wait for longer than the holder's lease.",
		ZH: "先订阅，再试一次，然后才等待，Redisson 就是这样做的；而且等待时间绝不超过持有者的租约。",
	},
	Numbers: race.Text{
		EN: "c1 works for a second. c2 asks after half a second, and its SUBSCRIBE is held up for two. Nobody else comes who could wake it by a release of his own; its patience is as long as the run.",
		ZH: "c1 干活 1 秒。c2 在半秒时来抢，它的 SUBSCRIBE 被耽搁 2 秒。之后没有别人再来加锁、释放，也就没有别的消息能唤醒它；它愿意等到整个过程结束。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Needs:    waitsByItself,
	Clients:  func(s race.Settings) []race.Client { return awaiting(s, race.Client{Work: s.Retry}, 1) },
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Sends(2, "SUBSCRIBE"), Do: race.Inject(0, faults.DelayOf(2, 0, s.Retry*2))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Acquire, 2), race.Sends(2, "SUBSCRIBE"), removes(1), race.Applies(2, "SUBSCRIBE"))
	},
}

var SilentCrash = race.Scenario{
	ID:    "silent-crash",
	Race:  "R35B",
	Title: race.Text{EN: "the holder dies while others wait for its message", ZH: "别人都在等消息，持有者却死了"},
	Story: race.Text{
		EN: "c2 has subscribed and waits. c1 is killed: its lease ends, and an expiry publishes nothing. Who knows how long the lease had left wakes by himself when it is over.",
		ZH: "c2 已经订阅，在等消息。c1 被杀：租约到期，可过期不会发布任何消息。知道租约还剩多久的，到点自己醒来。",
	},
	Cure: race.Text{
		EN: "Wait for the message or for what is left of the lease, whichever comes first: the refused try has brought the number along.",
		ZH: "等消息，同时也等剩余的租约时间，哪个先到算哪个：被拒绝的那次尝试已经带回了这个数字。",
	},
	Numbers: race.Text{
		EN: "The crash comes one second into the lease of ten, half a second after c2 has asked; so the lock is free at 10 s.",
		ZH: "崩溃发生在 10 秒租约的第 1 秒，c2 来抢之后半秒；锁在 10 秒时空出来。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    waitsByItself,
	Clients:  func(s race.Settings) []race.Client { return awaiting(s, race.Client{Work: s.TTL / 2}, 1) },
	Script:   crashHolding.Script,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Applies(2, "SUBSCRIBE"), race.Event(history.Crash, 1)) && !race.InOrder(h, removes(1))
	},
}

var herd = race.Scenario{
	ID:    "herd",
	Race:  "R36",
	Title: race.Text{EN: "one release wakes all who wait", ZH: "一次释放，叫醒所有等待者"},
	Story: race.Text{
		EN: "Three clients wait for c1's message. It comes, all three try at once, one gets the lock and two have tried in vain. Nothing breaks; but each hand-over among n waiters costs n tries, and the whole queue half of n squared.",
		ZH: "三个客户端等着 c1 的消息。消息一到，三个同时去抢，一个抢到，两个白跑。什么都没坏；可是 n 个人在等时，每交接一次就要抢 n 次，整队走完大约是 n 平方的一半。",
	},
	Cure: race.Text{
		EN: "Wake one: a list on the server from which a release takes the first, or ZooKeeper's watch on the predecessor.",
		ZH: "只叫醒一个：在服务器上排个队，释放时取队首；或者像 ZooKeeper 那样只监听前一个节点。",
	},
	Numbers: race.Text{
		EN: "c1 works for a second; the others come within it and work for half a second each. The three hand-overs take 3, 2 and 1 tries: six, of which three are in vain.",
		ZH: "c1 干活 1 秒，其余三个都在这 1 秒内到来，各干半秒。三次交接分别抢 3、2、1 次：一共六次，其中三次白跑。",
	},
	Settings:  race.StandardWith(func(s *race.Settings) { s.Clients = 4 }),
	Needs:     waitsByItself,
	Clients:   func(s race.Settings) []race.Client { return awaiting(s, race.Client{Work: s.Retry}, 3) },
	Triggered: func(h *history.History) bool { return woken(h) > 1 },
}

// waitsByItself is what the races of waking ask of a lock.
func waitsByItself(p race.Profile) race.Text {
	switch {
	case p.ZooKeeper:
		return race.Text{EN: "its waiters are woken by watches, not by messages: see watch-herd", ZH: "叫醒它的等待者的是 watch，不是消息：见 watch-herd"}
	case !p.WaitsInLine:
		return race.Text{EN: "who waits for it asks again and again: there is no message to miss", ZH: "等它的人是反复重试的，没有消息可以错过"}
	}
	return race.Text{}
}

// awaiting is a holder and n who wait for it.
func awaiting(s race.Settings, holder race.Client, n int) []race.Client {
	roles := []race.Client{holder}
	for i := range n {
		roles = append(roles, race.Client{
			Start: s.Retry/2 + time.Duration(i)*s.Retry/10, Work: s.Retry / 2,
			Patience: s.Horizon,
		})
	}
	return roles
}

// woken is how many clients are told of c1's release.
func woken(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case removes(1)(e):
			released = true
		case released && e.Kind == history.Enter:
			return n
		case released && e.Kind == history.Push:
			n++
		}
	}
	return n
}
