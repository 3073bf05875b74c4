package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// The failover, for those who ask with WAIT how many replicas have heard.

var failoverBehind = race.Scenario{
	ID:    "failover-behind",
	Race:  "R21B",
	Title: race.Text{EN: "the master dies as soon as the lock is granted, its replica a moment behind", ZH: "刚加上锁主库就宕机，从库只落后片刻"},
	Story: race.Text{
		EN: "The replica is a fifth of a second behind, and the master dies a tenth of a second after c1 was told that it has the lock. Whoever did not ask whether the replica has heard holds what the new master does not know. Whoever waited was told later, when the replica had it.",
		ZH: "从库落后 0.2 秒，c1 得知自己拿到锁之后 0.1 秒，主库就宕机。没有问过从库是否收到的，手里的锁新主库并不知道；用 WAIT 等过的，是在从库收到之后才被告知的。",
	},
	Cure: race.Text{
		EN: "Enter only when WAIT has answered that the replica which would be promoted has the key.",
		ZH: "加锁后先 WAIT，等将被提升的从库确认收到，再进入临界区。",
	},
	Numbers: race.Text{
		EN: "A lag of 200 ms is ordinary under load; the failover comes 100 ms after c1 has entered, less than the lag. c2 asks half a second after c1. Of several independent servers only the first fails over.",
		ZH: "负载较高时，200 毫秒的复制延迟很平常；切换发生在 c1 进入 100 毫秒之后，小于延迟。c2 比 c1 晚半秒来要锁。多个独立节点时，只有第一个发生切换。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = 200 * time.Millisecond }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag/2, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		inTime := race.InOrder(h, race.CreatesKey(1), replicates, race.Event(history.Enter, 1), failsOver, asks, race.Event(history.Leave, 1))
		return inTime || race.InOrder(h, race.Event(history.Enter, 1), forgets, asks, race.Event(history.Leave, 1))
	},
}

var failoverOther = race.Scenario{
	ID:    "failover-other",
	Race:  "R21C",
	Title: race.Text{EN: "one of two replicas has heard of the lock, and the other is promoted", ZH: "两个从库中一个已有这把锁，提升的却是另一个"},
	Story: race.Text{
		EN: "c1 waited until a replica had acknowledged its lock, and one of two has. The master dies, and the other one is promoted: WAIT counts replicas, it does not choose who follows. c2 gets in.",
		ZH: "c1 等到了一个从库的确认：两个从库里确实有一个收到了锁。主库宕机，被提升的却是另一个。WAIT 只管数量，不管由谁接任。c2 进来了。",
	},
	Cure: race.Text{
		EN: "Wait for all replicas that may be promoted, or for so many that the promotion cannot miss them all; or take a store that elects only who has heard.",
		ZH: "WAIT 要等所有可能被提升的从库，或者多到选谁都绕不开；要么换成只选举数据最新者的存储。",
	},
	Numbers: race.Text{
		EN: "The first replica is 200 ms behind, the second 400 ms. 100 ms after c1 has entered, whether or not it waited for one acknowledgement, the second has not heard yet, and it is the one that takes over.",
		ZH: "第一个从库落后 200 毫秒，第二个落后 400 毫秒。c1 进入 100 毫秒后（无论它有没有等一个确认），第二个还没收到，而接任的正是它。",
	},
	Settings: failoverBehind.Settings,
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 2,
	Needs: func(p race.Profile) race.Text {
		if p.Nodes > 1 {
			return race.Text{EN: "several independent servers do not count replicas: see failover and quorum-failover", ZH: "几台互相独立的服务器不看从库的个数：见 failover 和 quorum-failover"}
		}
		return race.Text{}
	},
	Clients: losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Lag/2, faults.FailoverTo(1, 1))}}
	},
	Triggered: func(h *history.History) bool {
		second := func(e *history.Event) bool { return failsOver(e) && e.Replica == 1 }
		return race.InOrder(h, race.Event(history.Enter, 1), second, forgets, asks, race.Event(history.Leave, 1))
	},
}

var replicaGone = race.Scenario{
	ID:    "replica-gone",
	Race:  "R21D",
	Title: race.Text{EN: "the only replica is out of reach, and the master lives", ZH: "唯一的从库失联，主库还活着"},
	Story: race.Text{
		EN: "The link to the replica is down; the master is well. A lock that insists on the replica's acknowledgement is refused to everybody, although nobody has it. One that asks and does not look at the answer loses a second at each command and is as unsafe as before.",
		ZH: "通往从库的链路断了，主库一切正常。坚持要从库确认的锁，谁也拿不到，尽管没有人持有；问了却不看答案的，每条命令白等一秒，和从前一样不安全。",
	},
	Cure: race.Text{
		EN: "That is the price of the acknowledgement: watch for replicas that have gone, and have more of them than one waits for.",
		ZH: "这就是等待确认的代价：要监控失联的从库，并且从库数要多于需要确认的数目。",
	},
	Numbers: race.Text{
		EN: "The replica hears of nothing for an hour, which is longer than the run. WAIT gives up after a second; both clients ask again a second after each refusal, until the run is over. No server dies here: what is judged is whether anybody can work.",
		ZH: "从库一小时收不到任何数据，比整个运行还长。WAIT 一秒后放弃；两个客户端每次被拒绝后一秒重试，直到运行结束。这里没有服务器宕机，要看的是还有没有人能干活。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = time.Hour }),
	Replicas: 1,
	Clients:  race.Calm.Clients,
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, replicates, race.Event(history.Acquire, 1), race.CreatesKey(1), race.EventOfOther(history.Acquire, 1))
	},
}

// The restart, by what a server keeps on disk.

var restartEverySecond = race.Scenario{
	ID:    "restart-everysec",
	Race:  "R23",
	Title: race.Text{EN: "a server restarts, and its disk lacks the last second", ZH: "服务器重启，磁盘上缺最后一秒的数据"},
	Story: race.Text{
		EN: "The server writes an append-only file and brings it to disk once a second, as most do. It loses power half a second after c1 has its lock, comes back with all that was on disk, and the lock was not: c2 gets in.",
		ZH: "服务器开了 AOF，每秒刷盘一次（appendfsync everysec，多数人的配置）。c1 拿到锁半秒后断电，恢复的是盘上的数据，而这把锁还没落盘：c2 进来了。",
	},
	Cure: race.Text{
		EN: "appendfsync always, or a restart that is delayed by more than the longest lease.",
		ZH: "appendfsync always，或者推迟重启，时间超过最长的租约。",
	},
	Numbers: race.Text{
		EN: "The restart comes half a second after c1 has entered, before the disk has caught up a second after the change. On five servers c1's requests to the fourth and the fifth are lost, as in restart, and server 3 restarts.",
		ZH: "重启发生在 c1 进入半秒后；刷盘要等到变更一秒后。五个节点时，与 restart 一样，c1 发往 4、5 的请求丢失，重启的是节点 3。",
	},
	Settings: race.Standard(),
	AOF:      simulator.EverySecond,
	Budget:   Restart.Budget,
	Clients:  losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second/2, faults.RestartOf(race.Quorum(nodes)))})
	},
	Triggered: Restart.Triggered,
}

var restartAlways = race.Scenario{
	ID:    "restart-always",
	Race:  "R23B",
	Title: race.Text{EN: "a server restarts with all that it has answered for", ZH: "服务器重启，答应过的数据都在"},
	Story: race.Text{
		EN: "The server brings each command to disk before it answers. It crashes under c1's lock, and when it is back the lock is back with it, and its time to live has gone on. A lock without one survives as well, for better or worse.",
		ZH: "服务器每条命令先落盘再应答（appendfsync always）。它在 c1 持锁期间崩溃，恢复之后锁还在，过期时间也照常走。没有过期时间的锁同样会留下来，是好是坏另说。",
	},
	Cure: race.Text{
		EN: "This is the cure of restart. It costs a flush to disk for each command.",
		ZH: "这就是 restart 的解法，代价是每条命令刷一次盘。",
	},
	Numbers: race.Text{
		EN: "Those of restart: a second after c1 has entered; on five servers, server 3 of the majority {1, 2, 3}.",
		ZH: "与 restart 相同：c1 进入一秒后重启；五个节点时，重启的是多数派 {1,2,3} 里的节点 3。",
	},
	Settings: race.Standard(),
	AOF:      simulator.Always,
	Budget:   Restart.Budget,
	Clients:  losing,
	Script:   Restart.Script,
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), race.Event(history.Up, 0), asks, race.Event(history.Leave, 1))
	},
}

var restartDelayed = race.Scenario{
	ID:    "restart-delayed",
	Race:  "R23C",
	Title: race.Text{EN: "a server without a disk comes back only when every lease has ended", ZH: "没有持久化的服务器，等所有租约都到期才重启（延迟重启）"},
	Story: race.Text{
		EN: "The server forgets everything in the crash, and is kept away for longer than a lease: when it is back, whatever it has forgotten has ended anyhow. Of five servers the others go on meanwhile. A single one is missed by everybody, and c1 cannot even give its lock back.",
		ZH: "服务器崩溃后什么都不记得，但停机时间超过一个租约：等它回来，它忘掉的锁本来也已经到期。五个节点时，其余节点照常服务；只有一个节点时，谁都用不了，连 c1 也无法释放锁。",
	},
	Cure: race.Text{
		EN: "To keep the lock available meanwhile, have several independent servers; or keep the data, with appendfsync always.",
		ZH: "想在停机期间仍然可用，就用多个独立节点；或者用 appendfsync always 保住数据。",
	},
	Numbers: race.Text{
		EN: "Server 3 of the majority {1, 2, 3}, or the only one, crashes one second after c1 has entered and is away for 11 s, a second more than a lease. c1 is done at 5 s; without a server, everybody is refused from then until 12 s.",
		ZH: "多数派 {1,2,3} 里的节点 3（或唯一的节点）在 c1 进入一秒后崩溃，停机 11 秒，比租约多一秒。c1 在 5 秒干完；没有服务器可用时，从那时起直到 12 秒，所有人都被拒绝。",
	},
	Settings: race.Standard(),
	Budget:   Restart.Budget,
	Clients:  losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second, faults.RestartAfter(race.Quorum(nodes), s.TTL+s.Retry))})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Up, 0), race.Event(history.Enter, 1), race.Event(history.Down, 0), asks, race.Event(history.Leave, 1))
	},
}
