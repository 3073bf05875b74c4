package scenarios

import (
	"fmt"
	"slices"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// losing is the cast of the races in which a server forgets: c1 works long
// enough to be overtaken, c2 writes before it and is inside when it leaves.
func losing(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.TTL / 2},
		{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL * 2 / 5},
	}
}

// Redisson 3.12.5 is told to stand this, since it sends WAIT with its scripts. The
// watchdog here is without WAIT, and falls; redisson-wait is that version, and falls
// as well: the answer is 0, and nobody looks at it. It stands in failover-behind, where
// the replica hears of the lock while WAIT waits.
var Failover = race.Scenario{
	ID:    "failover",
	Race:  "R21",
	Title: race.Text{EN: "the master dies before its replica has heard of the lock", ZH: "锁还没复制到从库，主库就宕机了"},
	Story: race.Text{
		EN: "c1 has the lock on the master. Before the write is replicated the master dies and the replica is promoted. It knows of no lock, and gives it to c2.",
		ZH: "c1 在主库上加了锁，还没同步到从库，主库就挂了，从库被提升。新的主库不知道有这把锁，把它给了 c2。",
	},
	Cure: race.Text{
		EN: "WAIT for the replica before believing in the lock, several independent servers, or a store that replicates before it answers.",
		ZH: "加锁后用 WAIT 等待从库确认，或用多个独立节点，或用先复制再应答的存储。",
	},
	Numbers: race.Text{
		EN: "The replica lags by 5 s and the master dies one second after c1 has entered: any lag longer than that second gives the same. Of several independent servers only the first fails over. A lock that waits for the replica gives up before it has heard; then the master dies a second after that.",
		ZH: "复制延迟 5 秒，主库在 c1 进入 1 秒后宕机：延迟只要大于这 1 秒，结果都一样。多个独立节点时，只有第一个发生切换。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  losing,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: decides(1), Do: race.Inject(time.Second, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), forgets, asks, race.Event(history.Leave, 1)) || race.InOrder(h, race.CreatesKey(1), removes(1), failsOver, asks)
	},
}

// asks names a request of somebody else than c1 to a server.
func asks(e *history.Event) bool {
	return e.Kind == history.Send && e.Client != 1 && e.Node != history.Resource
}

// decides names the moment at which a client has the lock, or is refused it.
func decides(client int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Client == client && (e.Kind == history.Enter || e.Kind == history.Refuse)
	}
}

// forgets names the moment at which a server loses a lock that was held on it.
func forgets(e *history.Event) bool {
	return e.Kind == history.Change && e.Client == 0 && e.Key == client.Key && e.After == ""
}

var Restart = race.Scenario{
	ID:    "restart",
	Race:  "R24",
	Title: race.Text{EN: "a server restarts without its memory", ZH: "服务器重启，内存里的数据全丢了"},
	Story: race.Text{
		EN: "c1 has the lock. The server that keeps it crashes and comes back empty. Of several servers, c1 had reached only a bare majority, and one of those is the one that forgets: c2 finds a majority too.",
		ZH: "c1 持有锁，保存锁的服务器崩溃重启，内存清空。多节点时，c1 只在刚好过半的节点上加锁成功，其中一个失忆：c2 也能凑够过半。",
	},
	Cure: race.Text{
		EN: "Make the server remember (appendfsync always), or keep it away for longer than the longest lease after a crash.",
		ZH: "让服务器记住（appendfsync always），或者崩溃后停机时间超过最长的租约再启动。",
	},
	Numbers: race.Text{
		EN: "The restart comes one second after c1 has entered. On five servers c1's requests to the fourth and the fifth are lost, so that its majority is {1, 2, 3}; server 3 forgets, and c2 gets {3, 4, 5}.",
		ZH: "重启发生在 c1 进入 1 秒后。五个节点时，c1 发往 4、5 的请求丢失，它的多数派是 {1,2,3}；节点 3 失忆，c2 拿到 {3,4,5}。",
	},
	Settings: race.Standard(),
	Budget: func(nodes int) string {
		return "restart=1" + bareMajorityBudget(nodes)
	},
	Clients: losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(time.Second, faults.RestartOf(race.Quorum(nodes)))})
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), forgets, asks, race.Event(history.Leave, 1))
	},
}

// bareMajority loses c1's first requests to the servers beyond the smallest
// majority.
func BareMajority(nodes int) []race.Trigger {
	if nodes == 1 {
		return nil
	}
	left := nodes - race.Quorum(nodes)
	return []race.Trigger{{Each: true,
		On: func(e *history.Event) bool {
			return e.Kind == history.Send && e.Client == 1 && e.Node > race.Quorum(nodes) && left > 0
		},
		Do: func(st *schedule.Stage, e *history.Event) {
			left--
			st.Inject(0, faults.LoseRequestOf(1, e.Thread))
		},
	}}
}

func bareMajorityBudget(nodes int) string {
	if nodes == 1 {
		return ""
	}
	return fmt.Sprintf(",lose-request=%d", nodes-race.Quorum(nodes))
}

var clockJump = race.Scenario{
	ID:    "clock-jump",
	Race:  "R25",
	Title: race.Text{EN: "a machine's clock is set forward by more than a lease", ZH: "服务器的时钟被往前拨，超过一个租约"},
	Story: race.Text{
		EN: "An administrator, or NTP, sets a clock forward by more than a lease: that of a server that keeps the lock, and that of c2, which runs on the same machine. Redis counts leases on the wall clock, so the lease ends at once; a lock that keeps timestamps sees c1's as long past.",
		ZH: "管理员或 NTP 把时钟向前拨了超过一个租约：既是保存锁的服务器的时钟，也是同一台机器上 c2 的时钟。Redis 用墙上时钟计算过期，租约立即结束；用时间戳的锁则会认为 c1 早已超时。",
	},
	Cure: race.Text{
		EN: "Keep clocks from being stepped: let NTP slew, forbid setting them by hand. Redis counts leases on the wall clock.",
		ZH: "不要让时钟跳变：NTP 用渐进调整，禁止手工改时间。Redis 用墙上时钟计算过期。",
	},
	Numbers: race.Text{
		EN: "The jump of 11 s is one second more than a lease, and comes one second after c1 has entered. On five servers c1 holds {1, 2, 3} only, as in restart, and it is server 3 whose clock jumps.",
		ZH: "跳变 11 秒，比租约多 1 秒，发生在 c1 进入 1 秒后。五个节点时，c1 与 restart 中一样只持有 {1,2,3}，跳变的是节点 3。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Jump = race.Seconds(11) }),
	Budget: func(nodes int) string {
		return "node-clock=1,client-clock=1" + bareMajorityBudget(nodes)
	},
	Clients: losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes), race.Trigger{On: race.Event(history.Enter, 1), Do: func(st *schedule.Stage, _ *history.Event) {
			st.Inject(time.Second, faults.NodeClockOf(race.Quorum(nodes), s.Jump))
			st.Inject(time.Second, faults.ClientClockOf(2, s.Jump))
		}})
	},
	Triggered: func(h *history.History) bool {
		server := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Node > 0 && e.D > h.TTL }
		client := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Client == 2 && e.D > h.TTL }
		return race.InOrder(h, race.Event(history.Enter, 1), server, client, asks, race.Event(history.Leave, 1))
	},
}

// Redlock is told to be blocked here like the others. It is not, since a failed
// attempt releases on every server, also where it heard nothing: what the servers did
// unheard is taken back at once.
var lostReply = race.Scenario{
	ID:    "lost-reply",
	Race:  "R32",
	Title: race.Text{EN: "the lock is granted, and the answer is lost", ZH: "加锁成功，应答却丢了"},
	Story: race.Text{
		EN: "The server executes c1's acquire and the answer never arrives. c1 gives up waiting and asks again, and finds the lock taken: by itself. It does not know, unless the lock recognises its owner, or cleans up after a failure.",
		ZH: "服务器执行了 c1 的加锁命令，应答却丢了。c1 等到超时后重试，发现锁被占用了：占着锁的正是它自己，而它不知道；除非锁能认出自己的主人，或者失败之后会清理。",
	},
	Cure: race.Text{
		EN: "After an attempt whose outcome is unknown, release by one's own token before asking again, or ask whether the value is one's own.",
		ZH: "结果未知的尝试之后，先用自己的令牌释放再重试，或者检查值是不是自己的。",
	},
	Numbers: race.Text{
		EN: "The answer to the first command of c1 that makes the key is lost; on several servers, the answers of a majority, so that the lock cannot do without them. c1 waits 3 s for an answer, or 50 ms for each of several servers, and asks again a second later.",
		ZH: "丢失的是 c1 第一条写入 key 的命令的应答；多节点时丢失过半节点的应答，使它无法绕过。c1 等待应答 3 秒（多节点时每个节点 50 毫秒），一秒后重试。",
	},
	AllowsShared: true,
	Settings:     race.Standard(),
	Budget: func(nodes int) string {
		return fmt.Sprintf("lose-reply=%d", race.Quorum(nodes))
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		lost := 0
		follow, thread := race.FollowRequests(1)
		return []race.Trigger{follow, {Each: true,
			On: func(e *history.Event) bool {
				return lost < race.Quorum(nodes) && e.Kind == history.Change && e.Client == 1 && e.Before == ""
			},
			Do: func(st *schedule.Stage, e *history.Event) {
				lost++
				st.Inject(s.Latency/2, faults.LoseReplyTo(1, thread(e)))
			},
		}}
	},
	Triggered: func(h *history.History) bool {
		unheard := []func(*history.Event) bool{race.GivenUp(history.LoseReply, 1)}
		return race.InOrder(h, append(slices.Repeat(unheard, race.Quorum(h.Nodes)), race.EventOfOther(history.Acquire, 1))...)
	},
}
