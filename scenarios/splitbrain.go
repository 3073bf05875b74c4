package scenarios

import (
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// WAIT is said to bound this. It does for who looks at its answer: token-wait does
// not believe in a lock that no replica has. Redisson 3.12.5 sends WAIT and drops the
// number, so redisson-wait falls like the locks that ask nobody.
var splitBrain = race.Scenario{
	ID:    "split-brain",
	Race:  "R22",
	Title: race.Text{EN: "the master is cut off with its client and lives on, and a replica takes its place", ZH: "脑裂：旧主库连同它的客户端被隔离，从库被提升为主库"},
	Story: race.Text{
		EN: "As failover, but the master has not died: the network has parted. It goes on serving c1, and c1 has no error to notice. The replica is promoted on the other side, has not heard of the lock, and gives it to c2. When the network heals, the old master forgets all it was told.",
		ZH: "与 failover 相似，但主库没有宕机，只是网络分区了。它继续为 c1 服务，c1 察觉不到任何错误。另一侧的从库被提升，它不知道这把锁，就给了 c2。网络恢复后，旧主库忘掉分区期间收到的一切。",
	},
	Cure: race.Text{
		EN: "A majority of independent servers, or a store that votes; WAIT for the replica before believing in the lock. min-replicas-to-write stops the old master only after its lag.",
		ZH: "用多个独立节点的多数派，或者靠投票的存储；加锁后用 WAIT 等从库确认再相信。min-replicas-to-write 要过了 max-lag 才拦得住旧主库。",
	},
	Numbers: race.Text{
		EN: "Those of failover: the replica lags by 5 s, and the network parts one second after c1 has entered, or was refused because it waited for the replica in vain. It heals after one lease of 10 s. Of several independent servers only the first is parted from its replica.",
		ZH: "与 failover 相同：复制延迟 5 秒，c1 进入（或因等不到从库确认而被拒绝）1 秒后网络分区，10 秒（一个租约）后恢复。多个独立节点时，只有第一个与它的从库分开。",
	},
	Settings: Failover.Settings,
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: decides(1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))}, {On: splits, Do: race.Inject(s.TTL, heal)}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), splits, forgets, asks, race.Event(history.Leave, 1)) || race.InOrder(h, race.CreatesKey(1), removes(1), splits, asks)
	},
}

// heal ends the split of the first server.
var heal = simulator.Choice{Verb: simulator.Heal, Node: 1}

func splits(e *history.Event) bool { return e.Kind == history.Split }
func heals(e *history.Event) bool  { return e.Kind == history.Heal }

var splitInStep = race.Scenario{
	ID:    "split-in-step",
	Race:  "R22D",
	Title: race.Text{EN: "the network parts when the replica knows of the lock, and the release reaches the old master alone", ZH: "脑裂：从库已有这把锁，释放却只到了旧主库"},
	Story: race.Text{
		EN: "As split-brain, but the replica lags by nothing: it knows c1's lock when it takes over, and c2 is refused there, rightly. Then c1 is done and releases, where it is: on the old master, which is cut off. On the other side the lock stays for an owner who has long finished with it, and when the network heals, it is the old master's view that is given up.",
		ZH: "与 split-brain 相同，但复制没有延迟：从库被提升时已经知道 c1 的锁，在那一侧拒绝 c2 是对的。接着 c1 干完释放，但只释放在它连得到的旧主库上，而那台已被隔离。另一侧的锁还替一个早已用完的人占着；网络恢复时，作废的正是旧主库的数据。",
	},
	Cure: race.Text{
		EN: "A time to live, as nothing else ends the lock that is left; a majority of independent servers does not mind one that is parted.",
		ZH: "设置过期时间，没有别的办法能结束留下的锁；多个独立节点的多数派则不在乎其中一个被隔离。",
	},
	Numbers: race.Text{
		EN: "Those of split-brain, but for the lag: the network parts one second after c1 has entered, c1 releases at 5 s, and it heals at 11 s. Where the lease ends by itself, c2 gets in soon after 10 s.",
		ZH: "除了没有延迟，与 split-brain 相同：c1 进入 1 秒后网络分区，c1 在 5 秒释放，11 秒恢复。租约会自己到期的，c2 在 10 秒后进来。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Clients:  losing,
	Script:   splitBrain.Script,
	Triggered: func(h *history.History) bool {
		// were anything forgotten when the replica takes over, it would be split-brain
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), splits, race.Event(history.Release, 1), asks, heals)
	},
}

var splitRenewed = race.Scenario{
	ID:    "split-renewed",
	Race:  "R22B",
	Title: race.Text{EN: "a watchdog renews on a master that is cut off", ZH: "脑裂：看门狗在被隔离的旧主库上一直续期"},
	Story: race.Text{
		EN: "The replica knows of c1's lock when the network parts and it is promoted, so nothing is forgotten. But c1's watchdog reaches the old master only. There the lease goes on, on the new master it ends, and c2 gets in: the renewal, of which c1 hears nothing but good, protects it from nobody. Without a watchdog two would be inside for no longer than the work outlasts the lease; with it, for as long as the network is parted.",
		ZH: "网络分区、从库被提升时，从库已经知道 c1 的锁，什么都没丢。但 c1 的看门狗只能连到旧主库：那里的租约一直在续，新主库上的却到期了，c2 进来。c1 看到每次续期都成功，却挡不住任何人。没有看门狗，两个人同时在里面的时间不会超过业务超出租约的部分；有了看门狗，网络分区多久就有多久。",
	},
	Cure: race.Text{
		EN: "Renew on a majority, or have each renewal acknowledged by a replica and stop the work when none does.",
		ZH: "在多数派上续期；或者每次续期都要从库确认，得不到确认就停下业务。",
	},
	Numbers: race.Text{
		EN: "The replica lags by nothing. The network parts one second after c1 has entered and stays so until c1 has done two and a half leases of work. On the new master the lease ends at 10 s; c2 enters, and writes one lease later, before c1 does at 25 s.",
		ZH: "复制没有延迟。c1 进入 1 秒后网络分区，一直持续到 c1 干完两个半租约的活。新主库上的租约在 10 秒到期；c2 进来，一个租约之后写入，早于 c1 在 25 秒的写入。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("split=1"),
	Replicas: 1,
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.TTL, Tail: s.TTL * 3 / 5}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.SplitOf(1, 1, 0))}}
	},
	Triggered: func(h *history.History) bool {
		var r renewal
		// were anything forgotten when the replica takes over, it would be split-brain
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), splits, asks, func(e *history.Event) bool { return r.applied(e) && e.Node > h.Nodes }, asks, race.Event(history.Leave, 1))
	},
}

var splitBounded = race.Scenario{
	ID:    "split-bounded",
	Race:  "R22C",
	Title: race.Text{EN: "a master that is cut off refuses, for it has no replicas", ZH: "脑裂：被隔离的主库身边没有从库，于是拒绝写入"},
	Story: race.Text{
		EN: "The network has parted, and c3 reaches nothing but the old master, which would grant it a lock that c2 has on the other side. With min-replicas-to-write the old master refuses to write once it has not heard of its replicas for long enough: split brain is bounded. Until then it grants, and to whoever is inside already nobody tells anything.",
		ZH: "网络分区之后，c3 只连得上旧主库，而锁在另一侧的 c2 手里，旧主库却会再给 c3 一把。配置了 min-replicas-to-write，旧主库一段时间听不到从库就拒绝写入：脑裂有了上限。在那之前它照样放行，而已经进去的人什么也不会被告知。",
	},
	Numbers: race.Text{
		EN: "Each server has two replicas and wants to have heard of one within 10 s, Redis's own min-replicas-max-lag. The network parts when c1 has released at 2 s, so that the old master refuses from 12 s on. c2 gets in on the new master at 13 s, and c3 asks the old one from 14 s on, in vain; the network heals 20 s after it has parted.",
		ZH: "每台服务器有两个从库，并要求 10 秒内至少听到一个（Redis 默认的 min-replicas-max-lag）。c1 在 2 秒释放锁后网络分区，所以旧主库从 12 秒起拒绝写入。c2 在 13 秒从新主库拿到锁，c3 从 14 秒起向旧主库请求，一直被拒；分区 20 秒后网络恢复。",
	},
	Settings:    race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:      race.FixedBudget("split=1"),
	Replicas:    2,
	MinReplicas: 1,
	Needs: func(p race.Profile) race.Text {
		if p.Nodes > 1 {
			return race.Text{EN: "one server of several grants nothing by itself: see split-brain", ZH: "多台服务器中的一台不能单独授予锁：见 split-brain"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Tail: s.Retry},
			{Start: s.TTL + s.Retry*3, Work: s.TTL / 5, Tail: s.TTL * 2 / 5},
			{Start: s.TTL + s.Retry*4, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Released, 1), Do: race.Inject(0, faults.SplitOf(3, 1, 0))}, {On: splits, Do: race.Inject(s.TTL*2, heal)}}
	},
	Triggered: func(h *history.History) bool {
		refuses := func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 3 && e.Node > h.Nodes && strings.Contains(e.Reply, "NOREPLICAS")
		}
		return race.InOrder(h, splits, race.Event(history.Enter, 2), refuses, race.Event(history.Leave, 2), heals)
	},
}
