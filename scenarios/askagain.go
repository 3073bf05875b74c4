package scenarios

import (
	"context"
	"fmt"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of a client that asks once more whether it
// still has the lock, and goes on by the answer.

var lateCheck = race.Scenario{
	ID:    "check-then-pause",
	Race:  "R19",
	Title: race.Text{EN: "the holder looks whether it still has the lock, stands still, and writes", ZH: "持有者查过锁还在，停顿，然后写入"},
	Story: race.Text{
		EN: "c1 is careful: before it writes, it asks once more whether the lock is still its own. It is. Between that answer and the write its whole process stands still; the lease ends, c2 gets in and writes. Then c1 wakes and does what it was told it might.",
		ZH: "c1 很小心：写之前再查一次锁还是不是自己的。是。就在查完和写入之间，整个进程停住了；租约到期，c2 进来写入。然后 c1 醒来，按刚才的答案继续写。",
	},
	Cure: race.Text{
		EN: "An answer is old when it arrives, however late one asks: the look belongs into the write itself, where the resource compares a fencing token or a version.",
		ZH: "不管查得多晚，答案到手时就已经旧了：检查要放在写入那一步，由资源比对围栏令牌或版本号。",
	},
	Numbers: race.Text{
		EN: "c1 checks at 1 s, and its pause of 12.5 s begins a twentieth of a second later, half of the time that it takes from the check to the write. c2 gets in soon after 10 s, or after 11 s where stamps count whole seconds, and writes a second and a half later. c1 wakes at 13.6 s and overwrites that, while c2 is still inside.",
		ZH: "c1 在 1 秒时检查，0.05 秒后开始停顿 12.5 秒，正好落在检查与写入之间。c2 在 10 秒多（时间戳只精确到秒的则是 11 秒多）进来，再过 1.5 秒写入。c1 在 13.6 秒醒来把它覆盖，此时 c2 还在里面。",
	},
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs: func(p race.Profile) race.Text {
		if !p.Checks {
			return race.Text{EN: "its lease cannot be asked whether it still stands", ZH: "它的租约没有提供检查，问不出是否还有效"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Tail: s.Retry, Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				base, err := a.Read(client.FencingToken(lease))
				a.Clock().Sleep(a.Def.Work)
				if a.Check(lease) && err == nil {
					a.Clock().Sleep(s.Retry / 10)
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
					a.Clock().Sleep(a.Def.Tail)
				}
				a.Record(history.Event{Kind: history.Leave})
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 2, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: assured(client.Checking), Do: race.Inject(s.Retry/20, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, assured(client.Checking), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Write, 1))
	},
}

// assured names the moment at which c1 is told that it still has the lock.
func assured(what string) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client == 1 && e.Note == what
	}
}

// asked names the moment at which c1 asks to have its lease prolonged.
func asked(e *history.Event) bool {
	return e.Kind == history.Acquire && e.Client == 1 && e.Note == client.Renewing
}

// extends is what these scenarios need.
func extends(p race.Profile) race.Text {
	if !p.Extends {
		return race.Text{EN: "its lease cannot be prolonged by its holder", ZH: "它的持有者不能续期"}
	}
	return race.Text{}
}

var RenewHeld = race.Scenario{
	ID:    "renew-held",
	Race:  "R34",
	Title: race.Text{EN: "a lease that has ended is to be prolonged while somebody else has the lock", ZH: "租约已到期，锁在别人手里，却要续期"},
	Story: race.Text{
		EN: "c1 has read and goes out to wait for something; there its process stands still, and its lease ends. c2 is inside when c1 comes back and asks to have its lease prolonged. The true answer is no. Yes would put c1 beside c2, with what it read long ago.",
		ZH: "c1 读完之后出去等别的事情，进程在那里停住，租约到期。c1 回来要求续期时，c2 正在里面。正确的回答是「不行」。如果答应了，c1 就带着早已过时的数据和 c2 同时在里面。",
	},
	Cure: race.Text{
		EN: "Prolong by comparing with one's own token, in one command, and believe the answer.",
		ZH: "续期时在同一条命令里比对自己的令牌，并且相信它的回答。",
	},
	Numbers: race.Text{
		EN: "The pause of 12.5 s begins a tenth of a second after c1 has read, on a lease of 10 s. c2 gets in at 10.5 s and stays until 14.5 s; c1 asks at 12.6 s.",
		ZH: "租约 10 秒，c1 读完 0.1 秒后停顿 12.5 秒。c2 在 10.5 秒进来，待到 14.5 秒；c1 在 12.6 秒要求续期。",
	},
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{comesBack(s), {Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5}}
	},
	Script: sleepsOutside,
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 2), outside, race.Event(history.Pause, 1), race.Event(history.Enter, 2), race.Event(history.Resume, 1), asked)
	},
}

var RenewFree = race.Scenario{
	ID:    "renew-free",
	Race:  "R34B",
	Title: race.Text{EN: "a lease that has ended is to be prolonged, and nobody has the lock", ZH: "租约已到期，锁没有人持有，却要续期"},
	Story: race.Text{
		EN: "As renew-held, but c2 has come, written and gone when c1 asks to have its lease prolonged. The lock is free; to take it anew and call that prolonging looks harmless. But what c1 read is no longer so, and its write undoes c2's.",
		ZH: "与 renew-held 相同，但 c1 要求续期时，c2 已经来过、写过、走了。锁是空的，顺手重新加上、当作续期成功，看起来无害。可是 c1 读到的早已不是现状，它一写就把 c2 的更新冲掉了。",
	},
	Cure: race.Text{
		EN: "To prolong is to have had the lock all the time: where the key is gone the answer is no, and the work starts over with a new acquire and a new read.",
		ZH: "续期意味着中间从没断过：key 不在了就必须回答「不行」，重新加锁、重新读、从头再来。",
	},
	Numbers: race.Text{
		EN: "Those of renew-held, but c2, which gets in at 10.5 s, is gone a second later.",
		ZH: "与 renew-held 相同，只是 10.5 秒进来的 c2 过 1 秒就走了。",
	},
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{comesBack(s), {Start: s.Retry / 2, Work: s.Retry / 2, Tail: s.Retry / 2}}
	},
	Script: sleepsOutside,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, outside, race.Event(history.Pause, 1), race.Event(history.Enter, 2), race.Event(history.Released, 2), race.Event(history.Resume, 1), asked)
	},
}

var RenewLate = race.Scenario{
	ID:    "renew-late",
	Race:  "R34C",
	Title: race.Text{EN: "the answer to a renewal takes longer than the lease", ZH: "续期的应答比租约还慢"},
	Story: race.Text{
		EN: "c1 asks to have its lease prolonged, in time, and the servers do it. But the answer that makes the majority is held up for longer than the new lease. The yes that c1 hears in the end is true of a time that has passed; c2 is inside by then. A lock that counts from when it asked says no.",
		ZH: "c1 及时要求续期，服务器也照办了，但凑够过半的那个应答在路上滞留得比新租约还久。c1 最后听到的「可以」说的是早已过去的时刻，c2 此时已在里面。从发出请求时开始计时的锁会回答「不行」。",
	},
	Cure: race.Text{
		EN: "Read the clock before asking and after the answers, as for the acquire: a lease that is over by then was not prolonged.",
		ZH: "和加锁时一样，请求之前和收到应答之后各读一次时钟：此时已经过完的租约，不算续成。",
	},
	Numbers: race.Text{
		EN: "c1 asks at 1 s, and the decisive answer, that of the third of five servers, is 11 s late, a second more than a lease. The client waits 15 s for an answer. c2 gets in after 11 s, and writes before c1 would, and leaves after it. Where a watchdog renews as well, c2 waits until c1 has gone.",
		ZH: "c1 在 1 秒要求续期，决定性的应答（五个节点中的第三个）迟到 11 秒，比租约多一秒。客户端等待应答 15 秒。c2 在 11 秒后进来，比 c1 先写、比 c1 晚走。有看门狗同时续期的，c2 一直等到 c1 离开。",
	},
	Settings: SlowAcquire.Settings,
	Budget:   race.FixedBudget("delay=1"),
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				base, err := a.Read(client.FencingToken(lease))
				a.Record(history.Event{Kind: history.Leave})
				a.Clock().Sleep(s.Retry)
				if prolong(lease) == nil && err == nil {
					// told afterwards: until it is answered, c1 has its old lease
					a.Record(history.Event{Kind: history.Acquire, Note: client.Renewing})
					a.Record(history.Event{Kind: history.Enter, Note: client.Renewing})
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
					a.Record(history.Event{Kind: history.Leave})
				}
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 5, Work: s.Retry / 2, Tail: s.TTL / 2},
		}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		beats := []race.Trigger{{On: outside, Do: func(*schedule.Stage, *history.Event) {}}}
		for range race.Quorum(nodes) - 1 {
			beats = append(beats, race.Trigger{On: prolongs, Do: func(*schedule.Stage, *history.Event) {}})
		}
		return append(beats, race.Trigger{On: prolongs, Do: race.Inject(s.Latency/2, faults.DelayOf(1, 0, s.TTL+s.Retry))})
	},
	Triggered: func(h *history.History) bool {
		tooLate := func(e *history.Event) bool {
			return race.Event(history.Delay, 1)(e) && e.Note == "reply" && e.D > h.TTL
		}
		return race.InOrderWithout(h, race.Event(history.Release, 1), outside, prolongs, tooLate, race.EventOfOther(history.Acquire, 1), race.Event(history.Answer, 1))
	},
}

// prolong asks the lease to be prolonged, without a word in the history: what the
// client does by the answer stands there.
func prolong(lease lock.Lease) error {
	r, ok := lock.As[lock.Renewer](lease)
	if !ok {
		return nil // nobody to ask
	}
	return r.Renew(context.Background())
}

// prolongs names the moments at which a server prolongs c1's lease because c1 itself
// has asked, and no watchdog.
func prolongs(e *history.Event) bool {
	return race.Event(history.Change, 1)(e) && e.Thread == 0 && e.Key == client.Key && e.Before != "" && e.After != ""
}

var renewPartly = race.Scenario{
	ID:    "renew-partly",
	Race:  "R34D",
	Title: race.Text{EN: "a renewal reaches too few servers, and the old lease has not ended", ZH: "续期没有到达过半的节点，而旧租约还没到期"},
	Story: race.Text{
		EN: "c1 asks to have its lease prolonged while it works, and the requests to a majority are lost. It was not prolonged, and not ended either: until the time that was granted first, the lock is c1's. A lock that cleans up after the failure, as it must after a failed acquire, lets c2 in beside c1.",
		ZH: "c1 干活时要求续期，发往过半节点的请求都丢了。租约没有续上，但也没有结束：在最初答应的时刻之前，锁仍是 c1 的。如果像加锁失败那样把令牌退还，就会放 c2 进来，和 c1 同时在里面。",
	},
	Cure: race.Text{
		EN: "Leave the keys alone when a renewal fails, and go by the old end of the lease.",
		ZH: "续期失败不要动 key，仍按原来的到期时间算。",
	},
	Numbers: race.Text{
		EN: "c1 asks at 1 s and is told of the failure after 3 s (50 ms for each of several servers), works on until 6 s, and writes; the lease lasts until 10 s. c2 asks every second.",
		ZH: "c1 在 1 秒要求续期，3 秒后得知失败（多节点时每个节点 50 毫秒），继续干到 6 秒写入；租约到 10 秒。c2 每秒抢一次锁。",
	},
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-request=%d", race.Quorum(nodes)) },
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				base, err := a.Read(client.FencingToken(lease))
				end := a.Clock().Now().Add(s.TTL * 3 / 5)
				a.Clock().Sleep(s.Retry)
				_ = prolong(lease) // it fails, and the old lease is long enough
				a.Clock().Sleep(end.Sub(a.Clock().Now()))
				if err == nil {
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
				}
				a.Record(history.Event{Kind: history.Leave})
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 5, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		lost := 0
		return []race.Trigger{{Each: true,
			On: func(e *history.Event) bool {
				return e.Kind == history.Send && e.Client == 1 && e.Thread == 0 && e.Node != history.Resource && e.At > s.Retry/2 && lost < race.Quorum(nodes)
			},
			Do: func(st *schedule.Stage, _ *history.Event) {
				lost++
				st.Inject(0, faults.LoseRequestOf(1, 0))
			},
		}}
	},
	Triggered: func(h *history.History) bool {
		steps := []func(*history.Event) bool{race.Event(history.Enter, 1)}
		for range race.Quorum(h.Nodes) {
			steps = append(steps, race.Event(history.LoseRequest, 1), race.Event(history.Timeout, 1))
		}
		return race.InOrderWithout(h, race.Event(history.Leave, 1), append(steps, race.EventOfOther(history.Acquire, 1))...)
	},
}

// comesBack is a client that leaves between its read and its write, and keeps the
// lock meanwhile: it goes on if it is told that its lease is prolonged.
func comesBack(s race.Settings) race.Client {
	return race.Client{Play: func(a *race.ClientRun) {
		lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
		base, err := a.Read(client.FencingToken(lease))
		a.Record(history.Event{Kind: history.Leave})
		a.Clock().Sleep(s.Retry)
		if a.Renew(lease) && err == nil {
			_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
			a.Record(history.Event{Kind: history.Leave})
		}
		client.Release(a.Client, lease)
	}}
}

func outside(e *history.Event) bool { return e.Kind == history.Leave && e.Client == 1 }

func sleepsOutside(s race.Settings, _ int) []race.Trigger {
	return []race.Trigger{{On: outside, Do: race.Inject(s.Retry/10, faults.PauseOf(1, s.Pause))}}
}
