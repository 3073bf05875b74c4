package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/simulator/history"
)

var gcPause = Scenario{
	ID:    "gc-pause",
	Race:  "R18",
	Title: Text{EN: "the holder's whole process stands still inside its lease", ZH: "持锁者在租约之内整个进程停顿（GC）"},
	Story: Text{
		EN: "c1 is inside when its whole process stops: a garbage collection, a SIGSTOP, a virtual machine on the move. Its lease ends, c2 gets in and writes. Then c1 wakes, knows nothing of it, and writes too.",
		ZH: "c1 在临界区里，整个进程突然停住：GC、SIGSTOP、虚拟机迁移。租约到期，c2 进来并写入。然后 c1 醒来，对此一无所知，也写了。",
	},
	Cure: Text{
		EN: "No lock on a lease alone survives it: let the resource refuse whoever comes too late, by a fencing token or a compare-and-set.",
		ZH: "单靠租约的锁都躲不过：要由资源拒绝迟到者，用 fencing token 或比较并设置。",
	},
	Numbers: Text{
		EN: "The pause of 12.5 s begins one second into a lease of 10 s and outlasts it. c2 gets in soon after 10 s and writes at 13 s; c1 wakes at 13.5 s, overwrites that, and is done at 15 s, while c2 is still inside. With a seed other than 0 the pause begins anywhere in c1's work.",
		ZH: "停顿 12.5 秒，从 10 秒租约的第 1 秒开始，比租约更长。c2 在 10 秒后进来，13 秒写入；c1 在 13.5 秒醒来把它覆盖，15 秒干完，此时 c2 还在里面。seed 不为 0 时，停顿可能从 c1 工作期间的任意时刻开始。",
	},
	Settings: with(func(s *Settings) { s.Pause = seconds(12.5) }),
	Budget:   always("pause=1"),
	Cast:     pauseCast,
	Script:   pauseScript,
	Struck:   paused,
}

var gcPauseFenced = Scenario{
	ID:    "gc-pause-fenced",
	Race:  "R18F",
	Title: Text{EN: "the same pause, with fencing tokens and a resource that looks at them", ZH: "同样的停顿，资源会检查围栏令牌"},
	Story: Text{
		EN: "As gc-pause, but each client draws a number with INCR when it has the lock, and the resource refuses a number lower than the highest it has seen. Two are still inside at once; the one that came too late can no longer do harm.",
		ZH: "与 gc-pause 相同，但每个客户端拿到锁后用 INCR 取一个号，资源拒绝比见过的最大号更小的写入。临界区里仍然同时有两个人，只是迟到的那个再也造不成破坏。",
	},
	Numbers: Text{
		EN: "Those of gc-pause: the pause of 12.5 s begins one second into a lease of 10 s. c2 gets in soon after 10 s and writes with number 2 at 13 s; c1 wakes at 13.5 s and its write with number 1 is refused. With a seed other than 0 the pause begins anywhere in c1's work.",
		ZH: "与 gc-pause 相同：停顿 12.5 秒，从 10 秒租约的第 1 秒开始。c2 在 10 秒后进来，13 秒用 2 号写入；c1 在 13.5 秒醒来，用 1 号写入，被拒绝。seed 不为 0 时，停顿可能从 c1 工作期间的任意时刻开始。",
	},
	Settings: gcPause.Settings,
	Budget:   gcPause.Budget,
	Fenced:   true,
	Needs: func(p Profile) Text {
		if p.Nodes > 1 {
			return Text{EN: "several independent servers have no counter to draw a fencing token from", ZH: "几台互相独立的服务器没有共同的计数器，发不出围栏令牌"}
		}
		return Text{}
	},
	Cast:   pauseCast,
	Script: pauseScript,
	Struck: paused,
}

func pauseCast(s Settings) []Role {
	return []Role{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: s.Retry / 2, Work: s.Retry * 5 / 2, Tail: s.Retry * 5 / 2},
	}
}

func pauseScript(s Settings, _ int) []Beat {
	begin := s.Retry
	if s.Seed != 0 {
		begin = time.Duration(stream(s.Seed, "pause begins").Int64N(int64(s.Retry * 3)))
	}
	return []Beat{{On: kind(history.Enter, 1), Do: strike(begin, faults.PauseOf(1, s.Pause))}}
}

// paused says whether c1's process stood still inside the critical section
// while somebody else asked. How long is the question, not the proof: a pause
// that the lease outlasts is an answer too.
func paused(h *history.History) bool {
	return then(h, kind(history.Enter, 1), kind(history.Pause, 1), other(history.Acquire, 1), kind(history.Resume, 1), kind(history.Leave, 1))
}
