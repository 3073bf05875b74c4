package scenarios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// What becomes of an acquisition that takes long, and of one that several servers
// have to agree on.

var QuorumRestart = race.Scenario{
	ID:    "quorum-restart",
	Race:  "R24B",
	Title: race.Text{EN: "two share the servers, the loser gives his back, and one of the winner's forgets", ZH: "两个客户端瓜分节点，输家退还，赢家的一个节点失忆"},
	Story: race.Text{
		EN: "c1 and c2 ask at the same time. c1 gets three of five servers and the lock, c2 the other two, and it gives them back. No message was lost and nobody has died, and yet c1 stands on a bare majority. Then one of the three restarts without its memory, and c2 finds it free beside the two.",
		ZH: "c1 和 c2 同时来抢。c1 拿到五个节点中的三个，加锁成功；c2 拿到另外两个，随后退还。消息一条没丢，也没有人宕机，c1 却只站在刚好过半的节点上。这时三个之中有一个失忆重启，加上那两个，c2 也凑够了过半。",
	},
	Cure: race.Text{
		EN: "Ask the missing servers again once there is a majority: then three have to forget, not one. And those of restart.",
		ZH: "凑够过半之后，再向缺的节点补要一次：那样要三个节点同时失忆才会出事。另外还有 restart 里的办法。",
	},
	Numbers: race.Text{
		EN: "c2 begins 1 ms after c1 and overtakes it: c1's process stands still for 6 ms while the answer of server 3 is on its way, and c2 is the first at 4 and 5. c1 wakes in time to be refused there, enters, and c2 has given both back a moment later. Server 3 restarts half a second after that, before c2 asks again. Where c1 asks all servers at once, its requests to 4 and 5 take 2 ms.",
		ZH: "c2 晚 1 毫秒开始，却超过了 c1：节点 3 的应答还在路上时，c1 的进程停顿了 6 毫秒，c2 先到了 4 和 5。c1 醒来后被这两个节点拒绝，但已过半，进入；片刻之后 c2 把两个都退还了。节点 3 在 c1 进入半秒后重启，此时 c2 还没有重试。如果 c1 同时询问所有节点，它发往 4 和 5 的请求要走 2 毫秒。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = 6 * time.Millisecond }),
	Budget:   func(nodes int) string { return fmt.Sprintf("pause=1,restart=1,delay=%d", nodes-race.Quorum(nodes)) },
	Needs: func(p race.Profile) race.Text {
		if p.StopsAtMajority {
			return race.Text{EN: "refused by a majority it asks no further, so that the loser takes no server from the winner", ZH: "被过半节点拒绝后它就不再往下问，输家不会从赢家手里分走节点"}
		}
		return severalServers(p)
	},
	Clients: func(s race.Settings) []race.Client {
		cast := losing(s)
		cast[1].Start = s.Latency * 2
		return cast
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		far := nodes - race.Quorum(nodes)
		return []race.Trigger{
			{Each: true,
				On: func(e *history.Event) bool { return far > 0 && abreast(1)(e) && e.Node > race.Quorum(nodes) },
				Do: func(st *schedule.Stage, e *history.Event) {
					far--
					st.Inject(0, faults.DelayOf(1, e.Thread, 4*s.Latency))
				}},
			{On: makesOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry/2, faults.RestartOf(race.Quorum(nodes)))},
		}
	},
	Triggered: func(h *history.History) bool {
		shared := race.InOrder(h, race.CreatesKey(2), removes(2)) && race.InOrder(h, race.CreatesKey(2), race.Event(history.Enter, 1))
		return shared && race.InOrder(h, removes(2), forgets, race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
	},
}

func severalServers(p race.Profile) race.Text {
	if p.Nodes == 1 {
		return race.Text{EN: "one server gives its whole answer at once", ZH: "只有一台服务器，一次就给出全部答复"}
	}
	return race.Text{}
}

// abreast names the requests of a client that leave beside others.
func abreast(client int) func(*history.Event) bool {
	return func(e *history.Event) bool { return race.Event(history.Send, client)(e) && e.Thread > 0 }
}

// makesOn is makes on one server.
func makesOn(client, node int) func(*history.Event) bool {
	return func(e *history.Event) bool { return race.CreatesKey(client)(e) && e.Node == node }
}

var SlowAcquire = race.Scenario{
	ID:    "slow-acquire",
	Race:  "R26",
	Title: race.Text{EN: "the answers to an acquire take longer than the lease", ZH: "加锁的应答来得比租约还慢"},
	Story: race.Text{
		EN: "c1's acquire is executed, and the answers are held up: together for longer than the lease. The servers count from when they grant, c1 enters when it hears. Whoever does not ask how long that took enters with a lease that has ended, beside c2.",
		ZH: "c1 的加锁命令已经执行，应答却迟迟不到：加起来比租约还久。服务器从授予时开始计时，c1 收到应答才进入。不看一眼花了多久的，进入时租约早已结束，而 c2 已经在里面。",
	},
	Cure: race.Text{
		EN: "Read a clock before asking and after the answers, and take what has passed off the lease; if nothing is left, give the lock back.",
		ZH: "请求之前和收到应答之后各读一次时钟，从租约里减去耗时；什么都不剩，就退还并放弃。",
	},
	Numbers: race.Text{
		EN: "The answers to what makes c1's key are 11 s late in all, a second more than a lease: 11 s for one server, 2.2 s for each of five. The client is a patient one that waits 15 s for an answer (go-redis gives up after 3 s). c2 gets in soon after 10 s and writes at 11.5 s; c1 enters at 11 s and writes at 12.5 s. Whoever asks all servers at once waits for the slowest of them, 2.2 s, and not for their sum.",
		ZH: "写入 c1 的 key 的那些应答一共迟到 11 秒，比租约多一秒：单节点迟到 11 秒，五个节点各迟到 2.2 秒。客户端很有耐心，等待应答 15 秒（go-redis 默认 3 秒）。c2 在 10 秒后进来，11.5 秒写入；c1 在 11 秒进入，12.5 秒写入。同时询问所有节点的锁，只等最慢的那个 2.2 秒，而不是五个之和。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Timeout = race.Seconds(15) }),
	Budget:   func(nodes int) string { return fmt.Sprintf("delay=%d", nodes) },
	Clients: func(s race.Settings) []race.Client {
		cast := lateCast(s)
		cast[0].Tail = s.Retry * 9 / 5 // whoever enters early is still inside when c2 begins
		return cast
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		late := 0
		follow, thread := race.FollowRequests(1)
		return []race.Trigger{follow, {Each: true,
			On: func(e *history.Event) bool { return late < nodes && race.CreatesKey(1)(e) },
			Do: func(st *schedule.Stage, e *history.Event) {
				late++
				st.Inject(s.Latency/2, faults.DelayOf(1, thread(e), (s.TTL+s.Retry)/time.Duration(nodes)))
			},
		}}
	},
	Triggered: func(h *history.History) bool {
		var held, until time.Duration // how late the answers are together, and when the last is there
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.Event(history.Acquire, 1)(e):
				held = 0
			case race.Event(history.Delay, 1)(e) && e.Note == "reply":
				held, until = held+e.D, max(until, e.At+e.D)
			case decides(1)(e):
				return held > h.TTL && e.At >= until
			}
		}
		return false
	},
}

// lateCast is for a c1 that is told a second too late: c2 is inside by then, and
// writes before c1 does and leaves after it.
func lateCast(s race.Settings) []race.Client {
	return []race.Client{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: (s.TTL + s.Retry) / 2, Work: s.Retry, Tail: s.Retry * 7 / 2},
	}
}

var PauseInFlight = race.Scenario{
	ID:    "pause-in-flight",
	Race:  "R27",
	Title: race.Text{EN: "the process stands still while the last answer to its acquire is on its way", ZH: "加锁的最后一个应答还在路上，进程停顿了"},
	Story: race.Text{
		EN: "All servers have said yes, and c1's process stops before it reads the last answer. When it wakes, the answer lies there and the lease has ended. Kleppmann brought this up against Redlock, and antirez answered that it is the one pause that Redlock does catch: it reads the clock after the answers. The locks on one server do not.",
		ZH: "服务器都答应了，c1 的进程在读到最后一个应答之前停住。醒来时应答就在那里，租约却已经结束。Kleppmann 用这个例子质疑 Redlock，antirez 回答说，恰恰是这种停顿 Redlock 防得住：它在收到应答之后才读时钟。单节点的锁都不这么做。",
	},
	Cure: race.Text{
		EN: "Read the clock after the answer, not before the request alone. It does not help against a pause a moment later, as in gc-pause.",
		ZH: "收到应答之后也要读时钟，而不只是请求之前。停顿再晚片刻就没有用了，见 gc-pause。",
	},
	Numbers: race.Text{
		EN: "The pause of 11 s is one second more than a lease. It begins when the last of the servers has made c1's key, half a millisecond before c1 would hear; where the lease takes a second command, that one follows after the pause. The deadline of the read has passed as well when c1 wakes; here the answer is found first, in late-answer the deadline. c2 writes at 11.5 s, c1 at 12.5 s.",
		ZH: "停顿 11 秒，比租约多一秒，从最后一个节点写入 c1 的 key 时开始，再过半毫秒 c1 就会收到应答；要靠第二条命令设置过期时间的锁，停顿之后才发那条命令。c1 醒来时读超时也已经到了；这里先发现的是应答，late-answer 里先发现的是超时。c2 在 11.5 秒写入，c1 在 12.5 秒写入。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(11) }),
	Budget:   race.FixedBudget("pause=1"),
	Clients:  lateCast,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return []race.Trigger{{On: makesOn(1, nodes), Do: race.Inject(0, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, decides(1), makesOn(1, h.Nodes), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Answer, 1))
	},
}

var ClockDrift = race.Scenario{
	ID:    "clock-drift",
	Race:  "R28",
	Title: race.Text{EN: "the holder stops when its lease ends, by a clock that is slow", ZH: "持有者到期就停手，可它的时钟走得慢"},
	Story: race.Text{
		EN: "c1 does what the lease asks of it: it leaves when its time is over, counted on its own clock from before it asked. But that clock loses half a percent, and the server's does not. The server lets c2 in while c1 has, by its clock, a moment left.",
		ZH: "c1 按租约的要求做了：从请求之前开始用自己的时钟计时，时间一到就离开。可是它的时钟慢了千分之五，服务器的没有慢。服务器放 c2 进来时，按 c1 的时钟还剩片刻。",
	},
	Cure: race.Text{
		EN: "Take off the validity what clocks may drift apart, 1 % of the lease and 2 ms in Redlock; or renew well before the end.",
		ZH: "有效期要减去时钟可能的漂移，Redlock 减的是租约的 1% 加 2 毫秒；或者离到期还早就续期。",
	},
	Numbers: race.Text{
		EN: "At half a percent ten seconds of c1's clock are 10.05 s of true time, so c1 stays up to 50 ms too long. c2 asks every 10 ms from just before 10 s, so that it does not miss that. The drift term of 102 ms covers twice as much. c1 asks its lease whether it still stands, where the lock has such a question, every 10 ms of the last 200 ms.",
		ZH: "慢千分之五时，c1 的 10 秒是真实的 10.05 秒，最多多待 50 毫秒。c2 从快到 10 秒起每 10 毫秒问一次，不会错过。漂移项 102 毫秒足够盖住它的两倍。最后 200 毫秒里，如果锁提供检查，c1 每 10 毫秒问一次自己的租约是否还在。",
	},
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{PPM: -5000, Play: func(a *race.ClientRun) { stay(a, s.TTL) }},
			{Start: s.TTL * 124 / 125, Work: s.Retry / 2, Retry: s.TTL / 1000},
		}
	},
	Triggered: func(h *history.History) bool {
		var asked, ahead time.Duration
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case race.Event(history.Acquire, 1)(e):
				asked, ahead = e.At, e.Skew
			case race.Event(history.Leave, 1)(e):
				// it lost time, less than the lease was long; and somebody asked meanwhile
				return e.Skew < ahead && e.At-asked > h.TTL*9/10 && race.InOrder(h, race.Event(history.Enter, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Leave, 1))
			}
		}
		return false
	},
}

var ServerDrift = race.Scenario{
	ID:    "server-drift",
	Race:  "R28B",
	Title: race.Text{EN: "the holder stops when its lease ends, and the servers' clocks are fast", ZH: "服务器的时钟走得快，持有者按自己的时钟到点才离开"},
	Story: race.Text{
		EN: "As clock-drift, but c1's clock is right, and it is the servers' that gain half a percent: by their count the lease ends sooner than c1 has any way of knowing. Nobody has jumped a clock, and every log looks well.",
		ZH: "与 clock-drift 相同，但 c1 的时钟是准的，快了千分之五的是服务器：按服务器的计时，租约提前结束，而 c1 无从得知。没有人拨过时钟，所有日志看起来都正常。",
	},
	Cure: ClockDrift.Cure,
	Numbers: race.Text{
		EN: "At half a percent ten seconds of the servers' clocks are 9.95 s of true time, so c1 stays 50 ms too long. c2 asks every 10 ms from 9.86 s on. The drift term of 102 ms covers twice as much. As in clock-drift, c1 asks its lease in the last 200 ms whether it still stands, where the lock has such a question.",
		ZH: "快千分之五时，服务器的 10 秒是真实的 9.95 秒，c1 多待了 50 毫秒。c2 从 9.86 秒起每 10 毫秒问一次。漂移项 102 毫秒足够盖住它的两倍。与 clock-drift 相同，最后 200 毫秒里，如果锁提供检查，c1 会问自己的租约是否还在。",
	},
	Settings: race.Standard(),
	NodePPM:  5000,
	Needs: func(p race.Profile) race.Text {
		if !p.Expires {
			return race.Text{EN: "no server's clock ends its lease", ZH: "它的租约不由服务器的时钟结束"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		cast := ClockDrift.Clients(s)
		cast[0].PPM = 0
		cast[1].Start = s.TTL * 493 / 500
		return cast
	},
	Triggered: func(h *history.History) bool {
		// a lease of the length that was asked for, or half as much again with a
		// delay, is one on a clock that is right
		short := func(e *history.Event) bool {
			lasts, some := (e.Until-e.At)%(h.TTL/2), h.TTL/1000
			return race.Event(history.Change, 1)(e) && e.After != "" && e.Until != history.Forever && lasts > some && lasts < h.TTL/2-some
		}
		late := func(e *history.Event) bool { return race.EventOfOther(history.Acquire, 1)(e) && e.At > h.TTL*9/10 }
		return race.InOrder(h, short, race.Event(history.Enter, 1), late, race.Event(history.Leave, 1))
	},
}

// stay is a client that is inside for as long as it may: for a lease, by its own
// clock from before it asked, or until the lock itself says that it is over.
func stay(a *race.ClientRun, ttl time.Duration) {
	for {
		end := a.Clock().Now().Add(ttl)
		lease, err := client.Try(a.Client, a.Lock)
		if err != nil {
			a.Clock().Sleep(a.Def.Retry)
			continue
		}
		checker, asks := lease.(lock.Checker)
		for a.Clock().Sleep(ttl * 49 / 50); a.Clock().Now().Before(end); a.Clock().Sleep(ttl / 1000) {
			if asks && checker.Check(context.Background()) != nil {
				break
			}
		}
		a.Record(history.Event{Kind: history.Leave})
		client.Release(a.Client, lease)
		return
	}
}

// It is often told of any three clients that ask five servers at once. Asked in one
// order the first server is a gate, though: who is refused there seldom gets three
// of the rest. The votes split where clients list the servers in different orders,
// as here, or ask all of them at the same time.
var SplitVote = race.Scenario{
	ID:    "split-vote",
	Race:  "R29",
	Title: race.Text{EN: "three clients share five servers, and all try again at the same time", ZH: "三个客户端瓜分五个节点，然后同时重试"},
	Story: race.Text{
		EN: "c1, c2 and c3 ask at once, each beginning with another server. Two votes, two votes and one: nobody has a majority, all give theirs back, all wait equally long, and it begins anew. Nothing has failed, and nobody ever gets in.",
		ZH: "c1、c2、c3 同时来抢，各自从不同的节点问起：两票、两票、一票，谁都没有过半。三个人都退还，都等同样久，然后重新来过。什么故障都没有，却谁也进不去。",
	},
	Cure: race.Text{
		EN: "Wait a random time before asking again, so that one is alone: see split-vote-spread. Or ask all servers in the same order, so that the first stays the first.",
		ZH: "重试前随机等待，让其中一个错开，见 split-vote-spread。或者所有人按同样的顺序问各个节点，先到的就一路领先。",
	},
	Numbers: race.Text{
		EN: "c1 asks the servers in the order 1 2 3 4 5, c2 in the order 3 4 5 1 2, c3 begins with 5: each lists them as its configuration does. Every message takes half a millisecond, so all rounds are alike; of those who ask all servers at once, the requests to all but the first two of their list take a millisecond. All wait five seconds, for six rounds in half a minute; a second would only be more of the same.",
		ZH: "c1 按 1 2 3 4 5 的顺序问，c2 按 3 4 5 1 2，c3 从 5 问起：顺序由各自的配置决定。每条消息都是半毫秒，所以每一轮都一样；同时询问所有节点的锁，发往列表前两个以外的节点的请求要走 1 毫秒。所有人都等 5 秒再试，半分钟里是六轮；等 1 秒只是轮数更多。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Retry, s.Horizon = 3, race.Seconds(5), race.Seconds(30) }),
	Needs:    severalServers,
	Clients: func(s race.Settings) []race.Client {
		work := s.TTL / 10
		return []race.Client{{Work: work}, {First: 2, Work: work}, {First: 4, Work: work}}
	},
	Budget: race.FixedBudget("delay=200"),
	Script: func(s race.Settings, _ int) []race.Trigger {
		// Whoever asks all servers at once is nearest to those that he lists first.
		return []race.Trigger{{Each: true,
			On: func(e *history.Event) bool {
				return e.Kind == history.Send && e.Thread > 1 && strings.EqualFold(e.Cmd[0], "SET")
			},
			Do: func(st *schedule.Stage, e *history.Event) {
				st.Inject(0, faults.DelayOf(e.Client, e.Thread, 2*s.Latency))
			},
		}}
	},
	Triggered: splitsVote,
}

var splitVoteSpread = race.Scenario{
	ID:    "split-vote-spread",
	Race:  "R29B",
	Title: race.Text{EN: "the same split vote, and the clients try again at different times", ZH: "同样的选票瓜分，但各自错开时间重试"},
	Story: race.Text{
		EN: "As split-vote, but each client waits another time before it asks again. The first round is lost by all three; in the second, c1 is alone and has its majority before anybody else asks.",
		ZH: "与 split-vote 相同，但每个客户端重试前等待的时间不同。第一轮三个人都没抢到；第二轮 c1 先来，别人还没问，它已经过半。",
	},
	Cure: race.Text{
		EN: "This is the cure of split-vote. A random delay does the same for clients that do not know of each other; it should be longer than a round takes.",
		ZH: "这就是 split-vote 的解法。互不相识的客户端用随机等待，效果一样；随机的幅度要大于一轮所需的时间。",
	},
	Numbers: race.Text{
		EN: "c1 waits 5 s, c2 6.5 s, c3 8 s; a round takes 10 ms. With a seed other than 0 the messages differ in length as well.",
		ZH: "c1 等 5 秒，c2 等 6.5 秒，c3 等 8 秒；一轮只要 10 毫秒。seed 不为 0 时，消息的快慢也各不相同。",
	},
	Settings: SplitVote.Settings,
	Needs:    severalServers,
	Clients: func(s race.Settings) []race.Client {
		cast := SplitVote.Clients(s)
		for i := range cast {
			cast[i].Retry = s.Retry + s.Retry*3/10*time.Duration(i)
		}
		return cast
	},
	Budget:    SplitVote.Budget,
	Script:    SplitVote.Script,
	Triggered: splitsVote,
}

// splitsVote says whether everybody got votes in the first round, and nobody the lock.
func splitsVote(h *history.History) bool {
	voted, refused := map[int]bool{}, map[int]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Change:
			voted[e.Client] = true
		case history.Refuse:
			refused[e.Client] = voted[e.Client]
		case history.Enter:
			return false
		}
		if len(refused) == h.Clients {
			break
		}
	}
	for c := 1; c <= h.Clients; c++ {
		if !refused[c] {
			return false
		}
	}
	return true
}

// What is left on three servers is often called an orphan. Here that word is for a
// key in the name of a process that lives and does not know: nobody is left who could
// know better, so this is BLOCKED, as in crash-holding.
var partialAcquire = race.Scenario{
	ID:    "partial-acquire",
	Race:  "R30",
	Title: race.Text{EN: "the client dies in the middle of asking the servers", ZH: "客户端逐个询问节点，中途崩溃"},
	Story: race.Text{
		EN: "c1 asks one server after the other, and is killed when three of five have granted the lock. It never held it, nobody else does, and two servers are no majority for c2.",
		ZH: "c1 逐个询问节点，五个里有三个刚刚答应，进程就被杀了。它从未持有锁，别人也没有；对 c2 来说，剩下两个节点凑不够过半。",
	},
	Cure: race.Text{
		EN: "Nobody is left to clean up after a crash: only the time to live does. Whoever lives on takes his tokens back from all servers, also after a cancelled call.",
		ZH: "进程死了就没有人收拾，只能靠过期时间。活着的客户端，哪怕调用被取消，也要向所有节点退还自己的令牌。",
	},
	Numbers: race.Text{
		EN: "The crash comes when the third server has made the key: the least at which the others are no majority. It is within the first 3 ms, so that c2 waits for the whole lease.",
		ZH: "崩溃发生在第三个节点写入 key 的那一刻：少一个，其余节点就仍能过半。此时不到 3 毫秒，c2 几乎要等满整个租约。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    severalServers,
	Clients:  crashHolding.Clients,
	Script: func(_ race.Settings, nodes int) []race.Trigger {
		return []race.Trigger{{On: makesOn(1, race.Quorum(nodes)), Do: race.Inject(0, faults.CrashOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, decides(1), makesOn(1, race.Quorum(h.Nodes)), race.Event(history.Crash, 1), race.EventOfOther(history.Acquire, 1))
	},
}
