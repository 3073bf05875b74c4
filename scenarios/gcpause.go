package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var GcPause = race.Scenario{
	ID:    "gc-pause",
	Race:  "R18",
	Title: race.Text{EN: "the holder's whole process stands still inside its lease", ZH: "持有者在租约之内整个进程停顿（GC）"},
	Story: race.Text{
		EN: "c1 is inside when its whole process stops: a garbage collection, a SIGSTOP, a virtual machine on the move. Its lease ends, c2 gets in and writes. Then c1 wakes, knows nothing of it, and writes too.",
		ZH: "c1 在临界区里，整个进程突然停住：GC、SIGSTOP、虚拟机迁移。租约到期，c2 进来并写入。然后 c1 醒来，对此一无所知，也写了。",
	},
	Cure: race.Text{
		EN: "No lock on a lease alone survives it: let the resource refuse whoever comes too late, by a fencing token or a compare-and-set.",
		ZH: "单靠租约的锁都躲不过：要由资源拒绝迟到者，用围栏令牌或比较并设置。",
	},
	Numbers: race.Text{
		EN: "The pause of 12.5 s begins one second into a lease of 10 s and outlasts it. c2 gets in soon after 10 s and writes at 13 s; c1 wakes at 13.5 s, overwrites that, and is done at 15 s, while c2 is still inside. With a seed other than 0 the pause begins anywhere in c1's work.",
		ZH: "停顿 12.5 秒，从 10 秒租约的第 1 秒开始，比租约更长。c2 在 10 秒后进来，13 秒写入；c1 在 13.5 秒醒来把它覆盖，15 秒干完，此时 c2 还在里面。seed 不为 0 时，停顿可能从 c1 工作期间的任意时刻开始。",
	},
	Settings:  race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(12.5) }),
	Budget:    race.FixedBudget("pause=1"),
	Clients:   pauseCast,
	Script:    pauseScript,
	Triggered: paused,
}

var GcPauseFenced = race.Scenario{
	ID:    "gc-pause-fenced",
	Race:  "R18F",
	Title: race.Text{EN: "the same pause, with fencing tokens and a resource that looks at them", ZH: "同样的停顿，资源会检查围栏令牌"},
	Story: race.Text{
		EN: "As gc-pause, but each client draws a number with INCR when it has the lock, and the resource refuses a number lower than the highest it has seen. Two are still inside at once; the one that came too late can no longer do harm.",
		ZH: "与 gc-pause 相同，但每个客户端拿到锁后用 INCR 取一个号，资源拒绝比见过的最大号更小的写入。临界区里仍然同时有两个人，只是迟到的那个再也造不成破坏。",
	},
	Numbers: race.Text{
		EN: "Those of gc-pause: the pause of 12.5 s begins one second into a lease of 10 s. c2 gets in soon after 10 s and writes with number 2 at 13 s; c1 wakes at 13.5 s and its write with number 1 is refused. With a seed other than 0 the pause begins anywhere in c1's work.",
		ZH: "与 gc-pause 相同：停顿 12.5 秒，从 10 秒租约的第 1 秒开始。c2 在 10 秒后进来，13 秒用 2 号写入；c1 在 13.5 秒醒来，用 1 号写入，被拒绝。seed 不为 0 时，停顿可能从 c1 工作期间的任意时刻开始。",
	},
	Settings: GcPause.Settings,
	Budget:   GcPause.Budget,
	Guard:    history.Fenced,
	Needs: func(p race.Profile) race.Text {
		if p.Nodes > 1 {
			return race.Text{EN: "several independent servers have no counter to draw a fencing token from", ZH: "几台互相独立的服务器没有共同的计数器，发不出围栏令牌"}
		}
		return race.Text{}
	},
	Clients:   pauseCast,
	Script:    pauseScript,
	Triggered: paused,
}

var gcPauseCAS = race.Scenario{
	ID:    "gc-pause-cas",
	Race:  "R18C",
	Title: race.Text{EN: "the same pause, and a resource that compares versions", ZH: "同样的停顿，资源会比较版本（CAS）"},
	Story: race.Text{
		EN: "As gc-pause, but the resource takes a write only if it builds on the newest version: compare-and-set. No token has to be drawn, so a majority of independent servers can have it as well. Two are still inside at once; c1's write builds on what c2 has overwritten, and is refused. antirez brought it up in his answer to Kleppmann: with a store that can do this, tokens need no order.",
		ZH: "与 gc-pause 相同，但资源只接受基于最新版本的写入，即比较并设置（CAS）。不需要取号，所以多个独立节点的锁也能用。临界区里仍然同时有两个人；c1 的写入所依据的版本已被 c2 覆盖，于是被拒绝。antirez 在给 Kleppmann 的答复里提过：存储若能做到这一点，令牌就不必有大小顺序。",
	},
	Numbers: race.Text{
		EN: "Those of gc-pause: the pause of 12.5 s begins one second into a lease of 10 s. c1 has read version 0 before it. c2 gets in soon after 10 s, reads the same, and writes version 1 at 13 s; c1 wakes at 13.5 s, and its write builds on version 0. With a seed other than 0 the pause begins anywhere in c1's work; then c1 may be the first to write, and it is c2's write that is refused, the holder's: nothing is lost, but the right one has to begin anew.",
		ZH: "与 gc-pause 相同：停顿 12.5 秒，从 10 秒租约的第 1 秒开始，此前 c1 已读到版本 0。c2 在 10 秒后进来，读到同样的版本，13 秒写入版本 1；c1 在 13.5 秒醒来，写入依据的还是版本 0。seed 不为 0 时，停顿可能从 c1 工作期间的任意时刻开始；这时也可能是 c1 先写，被拒绝的反而是持锁的 c2：数据没丢，只是对的人要重来一遍。",
	},
	Settings:  GcPause.Settings,
	Budget:    GcPause.Budget,
	Guard:     history.CompareAndSet,
	Clients:   pauseCast,
	Script:    pauseScript,
	Triggered: paused,
}

func pauseCast(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: s.Retry / 2, Work: s.Retry * 5 / 2, Tail: s.Retry * 5 / 2},
	}
}

func pauseScript(s race.Settings, _ int) []race.Trigger {
	begin := s.Retry
	if s.Seed != 0 {
		begin = time.Duration(race.Stream(s.Seed, "pause begins").Int64N(int64(s.Retry * 3)))
	}
	return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(begin, faults.PauseOf(1, s.Pause))}}
}

// paused says whether c1's process stood still inside the critical section
// while somebody else asked. How long is the question, not the proof: a pause
// that the lease outlasts is an answer too.
func paused(h *history.History) bool {
	return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Leave, 1))
}
