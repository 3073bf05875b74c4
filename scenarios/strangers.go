package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// The races of this file need nobody who takes part in the protocol. On several
// servers it is the first that loses the key, and a majority still has it.

var strayDelete = race.Scenario{
	ID:    "stray-delete",
	Race:  "R38",
	Title: race.Text{EN: "somebody who has nothing to do with the lock deletes its key", ZH: "与这把锁无关的人删掉了它的 key"},
	Story: race.Text{
		EN: "c1 holds the lock, and an operator takes it for a leftover and deletes the key, or a script does that cleans up. c1 is not told; c2 gets in beside it.",
		ZH: "c1 正持有锁，运维人员以为是残留的锁，手工删掉了 key，或者清理脚本把它删了。没有人通知 c1，c2 跟着进来。",
	},
	Cure: race.Text{
		EN: "A majority of servers outlives one such accident. Against all of them: let the resource check a fencing token, and forbid DEL on locks to all others (ACL).",
		ZH: "多个节点的多数派经得起一次这样的事故。要彻底防住：由资源检查围栏令牌，并用 ACL 禁止其他人删除锁的 key。",
	},
	Numbers: race.Text{
		EN: "The key goes one second after c1 has entered, far from the end of the lease of 10 s. c1 writes at 5 s; c2 enters at 1.5 s, writes before it, and is inside when c1 leaves. Of several servers the first one loses the key.",
		ZH: "key 在 c1 进入 1 秒后消失，离 10 秒租约到期还远。c1 在 5 秒写入；c2 在 1.5 秒进来，先于它写入，c1 离开时还在里面。多节点时，丢掉 key 的是第一个节点。",
	},
	Settings:  race.Standard(),
	Budget:    race.FixedBudget("delete=1"),
	Clients:   losing,
	Script:    loses(faults.DeleteOf(1, 0)),
	Triggered: lostInside,
}

var evicted = race.Scenario{
	ID:    "eviction",
	Race:  "R38B",
	Title: race.Text{EN: "memory is short, and the server evicts the lock", ZH: "内存不足，服务器把锁淘汰了"},
	Story: race.Text{
		EN: "The server that keeps the locks is a cache as well, and full. The volatile-* policies look for keys to drop among those that have a time to live: the very thing that makes a lock safe against a crash offers it for eviction. c1 is not told; c2 gets in beside it.",
		ZH: "存锁的服务器同时也当缓存用，内存满了。volatile-* 淘汰策略只在设了过期时间的 key 里挑：锁为了防崩溃才设过期时间，恰恰因此成了淘汰的对象。没有人通知 c1，c2 跟着进来。",
	},
	Cure: race.Text{
		EN: "Keep locks on a server of their own with maxmemory-policy noeviction, which refuses to write rather than forget.",
		ZH: "锁放在专用的服务器上，并设置 maxmemory-policy noeviction：宁可拒绝写入，也不淘汰。",
	},
	Numbers:  strayDelete.Numbers,
	Settings: strayDelete.Settings,
	Budget:   race.FixedBudget("evict=1"),
	Needs: func(p race.Profile) race.Text {
		if !p.Expires {
			return race.Text{EN: "its key has no time to live, and the volatile policies spare it", ZH: "它的 key 没有过期时间，volatile 类淘汰策略不会碰它"}
		}
		return race.Text{}
	},
	Clients:   losing,
	Script:    loses(faults.EvictOf(1, 0)),
	Triggered: lostInside,
}

var flushed = race.Scenario{
	ID:    "flush",
	Race:  "R38C",
	Title: race.Text{EN: "somebody empties the server, and the fencing counter goes with the lock", ZH: "有人清空了服务器，围栏令牌的计数器也一起没了"},
	Story: race.Text{
		EN: "FLUSHALL, meant for another server, or for the cache that lives beside the locks. All locks are gone at once, of whoever holds them, the waiting lines, and the counter from which fencing tokens are drawn. c2 gets in beside c1, is handed c1's number once more, and the resource cannot tell the two apart.",
		ZH: "有人执行了 FLUSHALL，本想清的是另一台服务器，或者是和锁放在一起的缓存。所有人的锁、排队的队列，还有发围栏令牌的计数器，一下子全没了。c2 跟着进来，领到与 c1 相同的号，资源分不清两者。",
	},
	Cure: race.Text{
		EN: "Keep locks away from caches, and forbid FLUSHALL (ACL). Draw fencing tokens from what cannot be emptied by accident.",
		ZH: "锁和缓存分开存放，用 ACL 禁用 FLUSHALL。围栏令牌要从不会被误清的地方取。",
	},
	Numbers: race.Text{
		EN: "Those of stray-delete. Both clients enter with number 1.",
		ZH: "与 stray-delete 相同。两个客户端进来时都是 1 号。",
	},
	Settings: strayDelete.Settings,
	Budget:   race.FixedBudget("flush=1"),
	Guard:    history.Fenced,
	Needs:    GcPauseFenced.Needs,
	Clients:  losing,
	Script:   loses(faults.FlushOf(1)),
	Triggered: func(h *history.History) bool {
		return lostInside(h) && sameNumber(h)
	},
}

// loses has the first server lose what it keeps a second after c1 has entered.
// The lock is the first of its keys by name.
func loses(how simulator.Choice) func(race.Settings, int) []race.Trigger {
	return func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, how)}}
	}
}

// lostInside says whether the key was taken from c1, by no client, while it was
// inside, and somebody asked then.
func lostInside(h *history.History) bool {
	stranger := func(e *history.Event) bool { return e.Kind == history.External }
	return race.InOrder(h, race.Event(history.Enter, 1), stranger, forgets, asks, race.Event(history.Leave, 1))
}
