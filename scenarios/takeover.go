package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of locks that take over what looks lapsed: of
// two that have read the same old stamp, one is late.

// takesOver is what they need.
func takesOver(p race.Profile) race.Text {
	if !p.UsesGETSET && !p.Deletes {
		return race.Text{EN: "it does not take over what it finds locked", ZH: "它遇到别人的锁不会接管"}
	}
	return race.Text{}
}

// swaps is what those need that are about GETSET.
func swaps(p race.Profile) race.Text {
	if !p.UsesGETSET {
		return race.Text{EN: "it does not take locks over with GETSET", ZH: "它不用 GETSET 接管锁"}
	}
	return race.Text{}
}

// takeover are the commands by which a client begins to take over.
var takeover = []string{"DEL", "GETSET"}

// bothSee is the script in which c1 dies with its key just made, and c2 and c3 have
// both seen the lapsed stamp before either has touched it. Then c2 goes first; the
// last beat lets c3 follow.
func bothSee(last race.Trigger) []race.Trigger {
	return []race.Trigger{
		{On: LeavesBare, Do: race.Inject(0, faults.CrashOf(1))},
		{On: race.Sends(2, takeover...), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
		{On: race.Sends(3, takeover...), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Freeze(3)
			st.After(0, func() { st.Thaw(2) })
		}},
		last,
	}
}

// GETSET is told as the answer to this race, and of exclusion that is true: one of the
// two gets in. But the other has written its stamp into the winner's key (WRONG-DEL),
// and the class of article 000 then releases a key with a foreign stamp and reports
// that it was its own (LIE). overwritten-stamp shows what that costs.
var doubleDel = race.Scenario{
	ID:    "double-del",
	Race:  "R05",
	Title: race.Text{EN: "two clients clear away the same lapsed lock", ZH: "两个客户端清理同一把超时的锁"},
	Story: race.Text{
		EN: "c1 is dead and its stamp has lapsed. c2 and c3 have both read it, and both set about taking over. c2 deletes the key, makes its own and goes in. c3's DEL comes only now: it was meant for the dead one's key and hits c2's. By GETSET exactly one of the two gets the old stamp back, and the other is refused; but it, too, has put its stamp over the winner's.",
		ZH: "c1 已死，时间戳已超时。c2、c3 都读到了它，都动手接管。c2 先 DEL，再 SETNX，进去了。c3 的 DEL 这时才到：它想删的是死者的 key，删掉的却是 c2 的。换成 GETSET，两个人里只有一个能拿回旧时间戳，另一个被拒绝；只是它也把自己的时间戳盖在了赢家的上面。",
	},
	Cure: race.Text{
		EN: "Take over in one step that fails when somebody else was faster: GETSET, or better a script or SET IFEQ, which changes nothing when it fails. Best: a time to live, and no takeover at all.",
		ZH: "接管必须一步完成，别人抢先就失败：GETSET；更好的是脚本或 SET IFEQ，失败时什么都不改。最好是用过期时间，根本不要接管。",
	},
	Numbers: race.Text{
		EN: "c1 dies at the start, when its key has just been made and has no time to live yet. c2 asks at 11.1 s, which is past the lease of 10 s in whole seconds too, and c3 a second later, so that their stamps differ. What c3 sends is kept until c2 is in; c2 stays for 3 s, and c3, if it gets in as well, writes after one.",
		ZH: "c1 一开始就死了，key 刚建好，还没有过期时间。c2 在 11.1 秒来，按整秒计算也超过了 10 秒租约；c3 晚 1 秒，两个人的时间戳不同。c3 的请求被压到 c2 进去之后；c2 待 3 秒，c3 如果也进去，1 秒后就写入。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    takesOver,
	Clients:  heirs,
	Script: func(race.Settings, int) []race.Trigger {
		return bothSee(race.Trigger{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(3) }) }})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Crash, 1), race.Sends(3, takeover...), race.Event(history.Enter, 2), race.Applies(3, takeover...), race.Event(history.Leave, 2))
	},
}

// heirs are c1, which dies, and two that come when its lease is over, counted in
// seconds or less.
func heirs(s race.Settings) []race.Client {
	start := s.TTL + s.Retry*11/10
	return []race.Client{
		{Work: s.Retry},
		{Start: start, Work: s.Retry * 3},
		{Start: start + s.Retry, Work: s.Retry},
	}
}

var overwrittenStamp = race.Scenario{
	ID:    "overwritten-stamp",
	Race:  "R08",
	Title: race.Text{EN: "the loser of the takeover leaves its stamp in the winner's key", ZH: "接管失败的一方，把自己的时间戳留在了赢家的 key 里"},
	Story: race.Text{
		EN: "c2 and c3 have both seen that c1's stamp has lapsed. c2's GETSET wins, and c2 goes to work. c3's comes while it works: c3 is refused, and yet its stamp is in the key now. The manual calls that harmless, and also advises the holder to look for its own stamp before it acts. Together the two are not harmless: c2 looks, finds another's stamp, drops its work and does not delete the key. Where GETSET also drops the time to live that c2 had set, only the stamp of the loser is left to end the lock.",
		ZH: "c2、c3 都看到 c1 的时间戳超时。c2 的 GETSET 抢到了，开始干活。干到一半 c3 的 GETSET 才到：c3 没抢到，时间戳却已经写进 key 里。手册说这无妨，又建议持有者动手之前先看看是不是自己的时间戳。两句话合在一起就有妨了：c2 一看不是自己的，放弃了业务，也不去删 key。如果 GETSET 还顺手抹掉了 c2 设好的过期时间，能结束这把锁的就只剩输家的时间戳了。",
	},
	Cure: race.Text{
		EN: "A takeover that changes nothing when it fails: compare and set in one step, by a script or SET IFEQ.",
		ZH: "接管失败时什么都不能改：用脚本或 SET IFEQ 一步完成比较和写入。",
	},
	Numbers: race.Text{
		EN: "As in double-del, but c3's GETSET is kept until c2 has been inside for half a second, and its EXPIRE, if there is one, is long done. After 3 s c2 looks, if the lock lets it, and writes unless it is told that the lock is lost.",
		ZH: "与 double-del 一样，但 c3 的 GETSET 被压到 c2 进去半秒之后，这时 c2 的 EXPIRE（如果有）早已执行。3 秒时 c2 看一眼自己的锁（如果这种锁能看），只要没被告知锁已丢失就写入。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    swaps,
	Clients: func(s race.Settings) []race.Client {
		cast := heirs(s)
		cast[1].Play = (*race.ClientRun).Wary
		return cast
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return bothSee(race.Trigger{On: race.Event(history.Enter, 2), Do: func(st *schedule.Stage, _ *history.Event) { st.After(s.Retry/2, func() { st.Thaw(3) }) }})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Crash, 1), race.Sends(3, "GETSET"), race.Event(history.Enter, 2), race.Applies(3, "GETSET"), race.Event(history.Refuse, 3), race.Event(history.Leave, 2))
	},
}

var sameSecond = race.Scenario{
	ID:    "same-second",
	Race:  "R10",
	Title: race.Text{EN: "two locks of one second have the same stamp", ZH: "同一秒内的两次加锁，时间戳相同"},
	Story: race.Text{
		EN: "c2's clock is ahead, so that c1's fresh stamp looks lapsed to it, and it sends GETSET. On the way it is overtaken: c1 releases, and c3 acquires in the same second. Stamps that count whole seconds are equal, c2 gets back what it had read, and takes c3's lock for c1's. With milliseconds it is refused, and still has put its stamp over c3's.",
		ZH: "c2 的时钟快，c1 的新时间戳在它看来早已超时，于是发出 GETSET。请求在路上的时候，c1 释放，c3 在同一秒内加锁。时间戳以秒为单位，两次的值相等，c2 拿回了它读到的值，把 c3 的锁当成 c1 的接管了。换成毫秒它会被拒绝，但还是把自己的时间戳盖在了 c3 的上面。",
	},
	Cure: race.Text{
		EN: "A value that no two acquires share: a random token. Finer stamps make the coincidence rare, and mend neither the clock nor the overwriting.",
		ZH: "值必须每次加锁都不同：随机令牌。时间戳更细只是让巧合变少，既治不了时钟，也治不了覆盖。",
	},
	Numbers: race.Text{
		EN: "The run begins with a full second. c1 is done after 300 ms; c2, whose clock is 12 s ahead on a lease of 10 s, asks at 200 ms, and its GETSET is kept until c3, which asks at 400 ms, is in. c3 stays until 900 ms, within the second.",
		ZH: "运行从整秒开始。c1 干 300 毫秒；c2 的时钟快 12 秒，租约 10 秒，它在 200 毫秒来抢锁，GETSET 被压到 c3 进去之后；c3 在 400 毫秒来抢锁，900 毫秒离开，都在同一秒内。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Skew = 3, race.Seconds(12) }),
	Needs:    swaps,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 3 / 10},
			{Start: s.Retry / 5, Work: s.Retry / 5, Tail: s.Retry, Skew: s.Skew},
			{Start: s.Retry * 2 / 5, Work: s.Retry / 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Sends(2, "GETSET"), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(2) }},
			{On: race.Event(history.Enter, 3), Do: func(st *schedule.Stage, _ *history.Event) { st.After(0, func() { st.Thaw(2) }) }},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Sends(2, "GETSET"), removes(1), race.Event(history.Enter, 3), race.Applies(2, "GETSET"), race.Event(history.Leave, 3))
	},
}
