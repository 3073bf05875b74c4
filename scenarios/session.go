package scenarios

import (
	"context"
	"errors"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of a session that ends, and takes its client's
// places with it, while that client believes to hold the lock.

var sessionPause = race.Scenario{
	ID:    "session-pause",
	Race:  "R40",
	Title: race.Text{EN: "the holder stands still, its session ends, and it looks when it wakes", ZH: "持有者停顿，会话到期，醒来先查一遍"},
	Story: race.Text{
		EN: "What gc-pause is for a lease. c1's process stands still, heartbeats and all, and the ensemble ends its session: its place goes, and it is c2's turn. c1 wakes, its library connects again and is told that the session has expired. c1 asks whether its place still stands before it writes, and does not write. But while it slept both were inside.",
		ZH: "gc-pause 的会话版。c1 整个进程停住，心跳也停了，集群让它的会话到期：节点消失，轮到 c2。c1 醒来，客户端库重连，被告知会话已过期。它写之前先查节点还在不在，于是没有写。但它睡着的时候，两个人同时在里面。",
	},
	Cure: race.Text{
		EN: "Nothing in the client: it cannot look while it stands still, and what it looks up is old when it writes. Give the resource the czxid as a fencing token.",
		ZH: "客户端没有办法：停顿时查不了，查完到写入之间又会过时。把 czxid 当作围栏令牌交给资源去比对。",
	},
	Numbers: race.Text{
		EN: "Curator's note on the matter has a session of 3 s and a collection of 10 s; here it is a session of 10 s, and a pause of 12.5 s that begins half a second after c1 is inside. c2 gets in after 10.5 s and works for a second and a half; c1 wakes at 13 s and asks at once.",
		ZH: "Curator 的技术说明举的例子是会话 3 秒、GC 10 秒；这里会话 10 秒，c1 进去半秒后停顿 12.5 秒。c2 在 10.5 秒多进来，干 1.5 秒；c1 在 13 秒醒来，马上去查。",
	},
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    checksOnEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Play: (*race.ClientRun).Wary},
			{Start: s.Retry / 4, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2, Patience: s.Horizon},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry/2, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.Event(history.SessionEnd, 1), race.Event(history.Resume, 1), race.Event(history.Reconnect, 1))
	},
}

var sessionEnds = race.Scenario{
	ID:    "session-ends",
	Race:  "R40B",
	Title: race.Text{EN: "the session ends while its client works, and nobody asks", ZH: "业务还在跑，会话到期，没有人去问"},
	Story: race.Text{
		EN: "c1 works, and is neither dead nor asleep. The ensemble ends its session all the same: a server has lost its heartbeats, or somebody has closed it. c1's library connects again and learns of it within a moment. The code that works does not: nothing calls it, and it has nothing to ask. It writes, and hears at its release that the lock was not its own.",
		ZH: "c1 正常干活，没死也没睡。集群却让它的会话到期了：心跳丢了，或者有人关掉了会话。客户端库很快重连，马上就知道了。干活的代码不知道：没有人通知它，它也没去问。它照样写，到释放时才听说锁早就不是自己的。",
	},
	Cure: race.Text{
		EN: "Listen to the state of the connection, and stop the work when it is SUSPENDED or LOST; and a fencing token at the resource, for the moment until it has stopped.",
		ZH: "监听连接状态，SUSPENDED 或 LOST 就停下业务；停下之前的那一刻，靠资源端的围栏令牌。",
	},
	Numbers: race.Text{
		EN: "c1 works for four seconds, and its session ends after the first. Two others stand in line, each of whom works for two seconds: of a semaphore with two permits it takes three to be one too many.",
		ZH: "c1 干 4 秒，第 1 秒时会话到期。另外两个在排队，各干 2 秒：对两个许可的信号量，要有三个才算多一个。",
	},
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:       race.FixedBudget("expire-session=1"),
	Needs:        onEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 4},
			{Start: s.Retry / 2, Work: s.Retry * 2, Patience: s.Horizon},
			{Start: s.Retry * 3 / 5, Work: s.Retry * 2, Patience: s.Horizon},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.ExpireSessionOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.SessionEnd, 1))
	},
}

var suspended = race.Scenario{
	ID:    "suspended",
	Race:  "R40C",
	Title: race.Text{EN: "the connection breaks while the holder asks, and it takes that for a no", ZH: "持有者查询时连接断开，它当作锁已经没了"},
	Story: race.Text{
		EN: "c1 asks in the middle of its work whether its place still stands. The connection breaks before the answer: Curator calls this SUSPENDED. The session may live on, or have ended; here it has. c1 takes what it does not know for a no, and stops. c2 comes in after it.",
		ZH: "c1 干到一半，查自己的节点还在不在。应答没到，连接断了：Curator 把这叫 SUSPENDED。会话也许还在，也许已经到期；这里是到期了。c1 把「不知道」当成「没了」，停下来。c2 随后进来。",
	},
	Cure: race.Text{
		EN: "It is the cure: SUSPENDED is as good as LOST until the opposite is known.",
		ZH: "这就是解法：在确认锁还在之前，SUSPENDED 一律按 LOST 处理。",
	},
	Numbers: race.Text{
		EN: "c1 asks when it has worked for a second, and its session ends in the moment in which the question is on its way. It would work on for two seconds more, and then write.",
		ZH: "c1 干了 1 秒后去查，问题还在路上时会话到期。本来它还要再干 2 秒才写入。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("expire-session=1"),
	Needs:    checksOnEnsemble,
	Clients: func(s race.Settings) []race.Client {
		return asksHalfway(s, func(told error) bool { return told == nil })
	},
	Script: func(race.Settings, int) []race.Trigger {
		asked := func(e *history.Event) bool { return race.Event(history.Acquire, 1)(e) && e.Note == client.Checking }
		return []race.Trigger{
			{On: asked, Do: func(*schedule.Stage, *history.Event) {}},
			{On: race.Sends(1, "EXISTS"), Do: race.Inject(0, faults.ExpireSessionOf(1))},
		}
	},
	Triggered: func(h *history.History) bool {
		unanswered := func(e *history.Event) bool {
			return race.Event(history.Refuse, 1)(e) && e.Note != client.Note(lock.ErrNotHeld)
		}
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.SessionEnd, 1), unanswered)
	},
}

var suspendedIgnored = race.Scenario{
	ID:    "suspended-ignored",
	Race:  "R40D",
	Title: race.Text{EN: "the connection breaks while the holder asks, and it works on", ZH: "持有者查询时连接断开，它照常干下去"},
	Story: race.Text{
		EN: "As suspended, but c1 stops only if it is told that its place is gone. A broken connection is no such answer; it has happened before, and the session has always been there again. So c1 works on and writes, while c2 has been inside and has written.",
		ZH: "与 suspended 相同，但 c1 只有被明确告知节点没了才停。连接断了不算：以前也断过，重连之后会话都还在。于是它接着干、接着写，而 c2 已经进来写过了。",
	},
	Cure:     suspended.Cure,
	Numbers:  suspended.Numbers,
	Settings: suspended.Settings,
	Budget:   suspended.Budget,
	Needs:    suspended.Needs,
	Clients: func(s race.Settings) []race.Client {
		return asksHalfway(s, func(told error) bool { return !errors.Is(told, lock.ErrNotHeld) })
	},
	Script:    suspended.Script,
	Triggered: suspended.Triggered,
}

// asksHalfway is a client that asks in the middle of its work whether it still has
// the lock, and another that waits. What it is told decides whether it goes on.
func asksHalfway(s race.Settings, goesOn func(told error) bool) []race.Client {
	return []race.Client{
		{Work: s.Retry, Tail: s.Retry * 2, Play: func(a *race.ClientRun) {
			lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
			base, err := a.Read(client.FencingToken(lease))
			a.Clock().Sleep(a.Def.Work)
			var told error
			a.Ask(client.Checking, func(ctx context.Context) error {
				told = lease.(lock.Checker).Check(ctx)
				return told
			})
			if err == nil && goesOn(told) {
				a.Clock().Sleep(a.Def.Tail)
				_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
			}
			a.Record(history.Event{Kind: history.Leave})
			client.Release(a.Client, lease)
		}},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.Horizon},
	}
}

// checksOnEnsemble is what those need in which somebody asks, and another waits.
func checksOnEnsemble(p race.Profile) race.Text {
	if p.ZooKeeper && !p.Checks {
		return lateCheck.Needs(p)
	}
	return onEnsemble(p)
}
