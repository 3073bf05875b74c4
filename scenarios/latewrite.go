package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var lateWrite = race.Scenario{
	ID:    "late-write",
	Race:  "R20",
	Title: race.Text{EN: "the write arrives after its writer has given the lock back", ZH: "写请求滞留在网络里，释放锁之后才到"},
	Story: race.Text{
		EN: "c1 writes while it holds the lock, and the packet is held up in the network. c1 stops waiting for the answer, leaves, and releases; c2 gets in, reads, and writes. Then c1's write arrives and undoes c2's. At no moment were two inside: no lock was at fault, and none could have prevented it.",
		ZH: "c1 持锁时发出写请求，数据包却滞留在网络里。c1 等应答超时，离开临界区并释放锁；c2 进来，读、写。这时 c1 的写请求才到，把 c2 的更新盖掉了。任何时刻临界区里都只有一个人：锁没有错，也没有哪把锁能避免这件事。",
	},
	Cure: race.Text{
		EN: "The resource has to refuse what comes too late: by a fencing token, or by comparing the version that the write builds on.",
		ZH: "只能由资源拒绝迟到的写入：检查围栏令牌，或者比较写入所依据的版本。",
	},
	Numbers: race.Text{
		EN: "c1 sends its write after a second, and the network holds it up for 6 s, far less than the 90 s that were once observed at GitHub. c1 gives up after 3 s (50 ms where there are several servers), and the lease of 10 s has not ended. c2 enters at 4.5 s (1.5 s), writes a second later, and is still at work when c1's write arrives at 7 s.",
		ZH: "c1 在第 1 秒发出写请求，被网络压了 6 秒，远小于 GitHub 曾经出现过的 90 秒。c1 等 3 秒后放弃（多节点时 50 毫秒），10 秒租约没有到期。c2 在 4.5 秒（多节点时 1.5 秒）进来，一秒后写入，7 秒 c1 的写请求到达时还在干活。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Clients:  lateWriters,
	Script:   holdWrite,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(accepted)...)
	},
}

var lateWriteFenced = race.Scenario{
	ID:    "late-write-fenced",
	Race:  "R20F",
	Title: race.Text{EN: "the same late write, with fencing tokens and a resource that looks at them", ZH: "同样的迟到写入，资源会检查围栏令牌"},
	Story: race.Text{
		EN: "As late-write, but each client draws a number with INCR when it has the lock, and the resource refuses a number lower than the highest it has seen. c1's write arrives when c2's number is known, and is refused.",
		ZH: "与 late-write 相同，但每个客户端拿到锁后用 INCR 取一个号，资源拒绝比见过的最大号更小的写入。c1 的写请求到达时，资源已经见过 c2 的号，于是拒绝。",
	},
	Numbers: race.Text{
		EN: "Those of late-write. c2 has read and written with number 2 when c1's write with number 1 arrives at 7 s.",
		ZH: "与 late-write 相同。c1 的 1 号写请求在 7 秒到达时，c2 已经用 2 号读过也写过了。",
	},
	Settings: lateWrite.Settings,
	Budget:   lateWrite.Budget,
	Guard:    history.Fenced,
	Needs:    GcPauseFenced.Needs,
	Clients:  lateWriters,
	Script:   holdWrite,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(func(e *history.Event) bool { return e.Kind == history.Write })...)
	},
}

var lateWriteCAS = race.Scenario{
	ID:    "late-write-cas",
	Race:  "R20C",
	Title: race.Text{EN: "the same late write, and a resource that compares versions", ZH: "同样迟到的写请求，资源会比较版本（CAS）"},
	Story: race.Text{
		EN: "As late-write, but the resource takes a write only if it builds on the newest version. When c1's write arrives, c2 has written, and what c1 had read is no longer the newest: refused. That works for every lock, also where nobody can draw a fencing token.",
		ZH: "与 late-write 相同，但资源只接受基于最新版本的写入。c1 的写请求到达时，c2 已经写过，c1 读到的已不是最新版本，于是被拒绝。这对每一种锁都有效，哪怕没有地方可以取围栏令牌。",
	},
	Numbers: race.Text{
		EN: "Those of late-write. c1's write at 7 s builds on version 0; c2 has read that as well, and made version 1 of it.",
		ZH: "与 late-write 相同。c1 在 7 秒到达的写请求依据的是版本 0；c2 读到的也是它，并且已经写成版本 1。",
	},
	Settings:  lateWrite.Settings,
	Budget:    lateWrite.Budget,
	Guard:     history.CompareAndSet,
	Clients:   lateWriters,
	Script:    holdWrite,
	Triggered: lateWriteFenced.Triggered,
}

func lateWriters(s race.Settings) []race.Client {
	return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL / 2}}
}

// holdWrite has the network hold up c1's first write for most of a lease.
func holdWrite(s race.Settings, _ int) []race.Trigger {
	writes := func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
	}
	return []race.Trigger{
		{On: writes, Do: func(*schedule.Stage, *history.Event) {}}, // the read
		{On: writes, Do: race.Inject(0, faults.DelayOf(1, 0, s.TTL*3/5))},
	}
}

// wroteLate is what happens when c1's write arrives after c2's.
func wroteLate(arrives func(*history.Event) bool) []func(*history.Event) bool {
	return []func(*history.Event) bool{
		race.Event(history.Delay, 1), race.Event(history.Released, 1), race.Event(history.Enter, 2),
		func(e *history.Event) bool { return accepted(e) && e.Client == 2 },
		func(e *history.Event) bool { return arrives(e) && e.Client == 1 },
	}
}

// accepted names the writes that the resource takes.
func accepted(e *history.Event) bool { return e.Kind == history.Write && e.OK }
