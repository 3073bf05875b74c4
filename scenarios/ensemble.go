package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// The races of this file are those of clients that stand in line at a ZooKeeper:
// each has a numbered znode there, and hears of those before it by watches. What is
// told of their sessions is in session.go.

var watchHerd = race.Scenario{
	ID:    "watch-herd",
	Race:  "R36B",
	Title: race.Text{EN: "one release, and everybody who waits in line is woken", ZH: "释放一次，排队的全被叫醒（羊群效应）"},
	Story: race.Text{
		EN: "c1 is inside, four others stand in line behind it, and none of them gives up. c1 releases. Whoever watches the one before it is woken alone, and it is its turn. Whoever watches the whole line is woken with all others, lists the line again, finds that it is not the first, and watches anew. No verdict speaks of that: nothing is wrong, and the servers have the work.",
		ZH: "c1 在里面，后面排着四个，谁也不放弃。c1 释放。只监听前一个节点的，只有下一个被叫醒，而且正好轮到它。监听整个队列的，四个一起被叫醒，各自重新列一遍队列，发现不是自己，再重新监听。没有哪个判决说这件事：什么都没错，只是服务器白忙。",
	},
	Cure: race.Text{
		EN: "Watch one znode only, the one before: the end of each place wakes one client.",
		ZH: "只监听自己前面那一个节点：每个节点消失只叫醒一个客户端。",
	},
	Numbers: race.Text{
		EN: "Count the watches that fire from c1's release on. With one watch each there are four, one for each hand-over. With all watching the line there are fourteen: 4 + 3 + 2 + 1, and each of the four has left one more by the look that let it in, which its own release fires. Ten of them are in vain; for n in line that grows with half of n squared.",
		ZH: "数一数从 c1 释放起触发了几次 watch。每人只监听前一个：四次，每交接一次触发一次。都监听整个队列：十四次，4 + 3 + 2 + 1，再加上四个人各自进去前那一看又留下的一个 watch，自己释放时触发。其中十次白费；队里有 n 个人，就按 n 平方的一半增长。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 5 }),
	Needs:    onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		cast := []race.Client{{Work: s.Retry}}
		for i := range time.Duration(4) {
			cast = append(cast, race.Client{Start: s.Retry * (i + 1) / 5, Work: s.Retry / 10, Patience: s.Horizon})
		}
		return cast
	},
	Triggered: func(h *history.History) bool {
		inLine := 0
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.EventOfOther(history.Acquire, 1)(e):
				inLine++
			case race.EventOfOther(history.Enter, 1)(e), race.EventOfOther(history.Refuse, 1)(e):
				inLine--
			case race.Event(history.Release, 1)(e):
				return inLine == 4
			}
		}
		return false
	},
}

// wakings is how many watches of others fire from c1's release on.
func Wakings(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		e := &h.Events[i]
		released = released || race.Event(history.Release, 1)(e)
		if released && race.EventOfOther(history.Fire, 1)(e) {
			n++
		}
	}
	return n
}

var inLine = race.Scenario{
	ID:    "in-line",
	Race:  "R37B",
	Title: race.Text{EN: "who comes back again and again stands in line behind who waits", ZH: "反复回来的，也得排在等着的人后面"},
	Story: race.Text{
		EN: "The clients of overtaken, on a lock that has a line: c1 comes once and waits, c2 comes back as soon as it has released, fifteen times. Its new place is behind c1's, whose turn is next.",
		ZH: "和 overtaken 一样的两个客户端，换成能排队的锁：c1 来一次，排队等着；c2 刚释放就又来，一共十五次。它的新位子排在 c1 后面，下一个就轮到 c1。",
	},
	Cure: race.Text{
		EN: "Nothing to mend: the order is that of the numbers, and who has one keeps it while it waits.",
		ZH: "不用补救：先后由编号决定，等的时候编号一直在。",
	},
	Numbers: race.Text{
		EN: "Those of overtaken: c2 works for nine tenths of a second. c1 is inside when c2 has been there once; among n clients in line nobody waits for more than n - 1 turns.",
		ZH: "与 overtaken 相同：c2 每次干 0.9 秒。c2 只进去过一次，c1 就进去了；n 个人排队，谁最多也只等 n - 1 轮。",
	},
	Settings: race.Standard(),
	Needs:    onEnsemble,
	Clients:  func(s race.Settings) []race.Client { return patiently(s, overtaken.Clients(s)) },
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 2), race.Event(history.Acquire, 1), race.Event(history.Released, 2), race.Event(history.Acquire, 2))
	},
}

var lostCreate = race.Scenario{
	ID:    "lost-create",
	Race:  "R39",
	Title: race.Text{EN: "the answer to create is lost, and the client waits behind itself", ZH: "create 的应答丢了，客户端排在自己后面等自己"},
	Story: race.Text{
		EN: "c1 takes its place in line. The ensemble has created the znode when the connection breaks, and c1 never hears of it. Its session lives on, and the znode with it: it is the first in line, and nobody knows that it holds the lock. c1 asks again, gets a second place behind its own first one, and waits. So does everybody else.",
		ZH: "c1 去排队。集群已经建好节点，连接断了，c1 没收到应答。会话还在，节点也就还在：它排在第一，却没有人知道自己拿着锁。c1 再来一次，排到了自己那个节点后面，等自己。别人也都跟着等。",
	},
	Cure: race.Text{
		EN: "A name of one's own in the znode's, a GUID, and after a broken connection a look whether it stands there already.",
		ZH: "节点名里带上自己的 GUID，连接断了之后先列一遍子节点，看看自己的是不是已经在了。",
	},
	Numbers: race.Text{
		EN: "The answer to c1's first place is lost. Both wait in line for three seconds at a time, and come again a second later, up to the end at six times the session's time-out: a session whose client is alive does not end.",
		ZH: "丢的是 c1 第一次排队的应答。两个客户端每次排队等 3 秒，歇 1 秒再来，直到会话超时的六倍为止：客户端活着，会话就不会结束。",
	},
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget:       race.FixedBudget("lose-reply=1"),
	Needs:        onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Patience: s.Retry * 3},
			{Start: s.Retry / 2, Work: s.Retry, Patience: s.Retry * 3},
		}
	},
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{{On: race.JoinsQueue(1), Do: race.Inject(0, faults.LoseReplyTo(1, 0))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.JoinsQueue(1), race.Event(history.LoseReply, 1), race.EventOfOther(history.Acquire, 1))
	},
}

var WaiterDies = race.Scenario{
	ID:    "waiter-dies",
	Race:  "R41",
	Title: race.Text{EN: "the one before goes without ever having held the lock: its session ends", ZH: "前一个节点从没拿到过锁就没了：它的会话到期"},
	Story: race.Text{
		EN: "c1 is inside, c2 waits behind it, c3 behind c2. c2's session ends, and its place is gone. That wakes c3, and the article says: once notified, the lock is yours. It is not. The one before has gone, but it was not the holder.",
		ZH: "c1 在里面，c2 排在后面，c3 排在 c2 后面。c2 的会话到期，它的节点消失，c3 被叫醒。文章说：一旦被通知，自己就获取到了锁。并没有：走掉的是前一个，可前一个不是持有者。",
	},
	Cure: race.Text{
		EN: "Take a wake-up for a reason to look, and no more: list the line again, and enter when nobody is before.",
		ZH: "被叫醒只说明该再看一眼：重新列一遍子节点，确认前面没有人了才进去。",
	},
	Numbers: race.Text{
		EN: "c1 works for five seconds. c2 and c3 come half a second after it, one after the other, and have patience for two leases. c2's session ends when c1 has been inside for two seconds.",
		ZH: "c1 干 5 秒。c2、c3 在半秒时先后来排队，都愿意等两个租约。c1 进去 2 秒后，c2 的会话到期。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    onEnsemble,
	Clients:  ThreeInLine,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry*2, faults.ExpireSessionOf(2))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.SessionEnd, 2), race.Event(history.Fire, 3))
	},
}

// threeInLine is a holder and two who wait, one behind the other.
func ThreeInLine(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 2},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.TTL * 2},
		{Start: s.Retry * 3 / 5, Work: s.Retry, Patience: s.TTL * 2},
	}
}

var waiterLeaves = race.Scenario{
	ID:    "waiter-leaves",
	Race:  "R41B",
	Title: race.Text{EN: "the one before goes without ever having held the lock: it gives up", ZH: "前一个节点从没拿到过锁就没了：它不等了"},
	Story: race.Text{
		EN: "As waiter-dies, and nothing goes wrong at all: c2 has waited for as long as it wanted to, and takes its place away, as it should. c3 is woken by that, and may not take it for its turn.",
		ZH: "与 waiter-dies 相同，而且一点意外都没有：c2 等够了时间，规规矩矩删掉自己的节点走人。c3 因此被叫醒，但不能当成轮到自己了。",
	},
	Cure: WaiterDies.Cure,
	Numbers: race.Text{
		EN: "Those of waiter-dies, but c2 waits for two seconds only: it is gone at 2.5 s, when c1 has half of its work before it.",
		ZH: "与 waiter-dies 相同，只是 c2 只等 2 秒：它在 2.5 秒时离开，那时 c1 的活才干了一半。",
	},
	Settings: WaiterDies.Settings,
	Needs:    onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		cast := ThreeInLine(s)
		cast[1].Patience = s.Retry * 2
		return cast
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.Fire, 3), race.Event(history.Refuse, 2))
	},
}

var numbersEnd = race.Scenario{
	ID:    "numbers-end",
	Race:  "R42",
	Title: race.Text{EN: "the line has given out its last number", ZH: "队列的编号用完了"},
	Story: race.Text{
		EN: "The znode of the lock has had 2147483647 children: the counter of 32 bits ends. The guide says that it overflows, to -2147483648. A server 3.8 stays where it is, and gives the last number to everybody. Places of one name are then refused while one stands, so that there is a lock but no line: c1 is refused whenever c2 has it. Places with a GUID are given, all with one number; the order is that of the GUIDs, and a newcomer may stand before the holder.",
		ZH: "锁的节点已经有过 2147483647 个子节点，32 位的计数器到头了。官方文档说它会溢出成 -2147483648；3.8 的服务器实际上停在原地，给每个人发同一个编号。节点同名的，只要有一个在，别人就建不了：锁还在，队没了，c2 拿着的时候 c1 总是被拒。节点带 GUID 的，都能建成，编号却都一样，先后就看 GUID，后来的可能排到持有者前面。",
	},
	Cure: race.Text{
		EN: "Make the parent anew before it comes to that, when nobody is in line: a server from 3.5 can do so by itself if the parent is a container.",
		ZH: "在用完之前，趁没人排队把父节点删掉重建；父节点用 container 类型的话，3.5 以上的服务器会自己清理。",
	},
	Numbers: race.Text{
		EN: "The clients of in-line, with the counter at its end. c1's GUID sorts before c2's, as half of all draws do. At a thousand acquires per second the numbers last for 25 days.",
		ZH: "与 in-line 相同的客户端，计数器从最后一个编号开始。c1 的 GUID 排在 c2 前面，随机抽取时这有一半的可能。每秒加锁一千次，编号能用 25 天。",
	},
	Settings:          race.Standard(),
	Needs:             onEnsemble,
	SequenceExhausted: true,
	Clients: func(s race.Settings) []race.Client {
		cast := inLine.Clients(s)
		cast[0].Token, cast[1].Token = "a", "b"
		return cast
	},
	Triggered: func(h *history.History) bool {
		last := func(e *history.Event) bool { return race.JoinsQueue(2)(e) && strings.HasSuffix(e.Reply, "-2147483647") }
		return race.InOrder(h, last, race.Event(history.Enter, 2), race.Event(history.Acquire, 1))
	},
}

// patiently has everybody of a cast wait in line for as long as it takes.
func patiently(s race.Settings, cast []race.Client) []race.Client {
	for i := range cast {
		cast[i].Patience = s.Horizon
	}
	return cast
}

// onEnsemble is what the races of this file and of session.go need.
func onEnsemble(p race.Profile) race.Text {
	if !p.ZooKeeper {
		return race.Text{EN: "it is on Redis, where there is no session and no line of znodes", ZH: "它在 Redis 上，没有会话，也没有节点排成的队列"}
	}
	return race.Text{}
}
