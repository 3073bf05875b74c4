package scenarios

import (
	"fmt"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are told in no article: exhaustive search found them,
// and the sections of proofs.txt hold it to finding them again. Here each has
// the numbers of all the others, so that it can be laid beside them.

var lateAnswer = race.Scenario{
	ID:    "late-answer",
	Race:  "S1",
	Title: race.Text{EN: "the process sleeps through the answer to its acquire", ZH: "进程停顿，错过了加锁的应答"},
	Story: race.Text{
		EN: "The server executes c1's acquire, and c1's process stands still before it has read the answer. When it wakes, its command has timed out: to c1 the attempt has failed, while the key stands. A lock without a lease, immune to any pause of its holder, blocks everybody for ever; where the lease takes a second command, that command is never sent.",
		ZH: "服务器执行了 c1 的加锁命令，c1 还没读到应答，进程就停住了。醒来时命令已经超时：c1 认为加锁失败，key 却在。没有租约的锁不怕持有者停顿，在这里却让所有人永远等下去；要靠第二条命令设置过期时间的锁，那条命令也不会再发出。",
	},
	Cure: race.Text{
		EN: "Take a timeout for what it is, an open outcome: release by one's own token before asking again, and set the time to live in the command that takes the lock.",
		ZH: "超时不等于失败，而是结果未知：重试之前先用自己的令牌释放，过期时间和加锁写在同一条命令里。",
	},
	Numbers: race.Text{
		EN: "The pause of 5 s is half a lease, and longer than the 3 s for which a client waits for an answer (50 ms where there are several servers). The answer lies in the socket when c1 wakes, and the deadline of the read has passed; which of the two is noticed first is up to the runtime, and here it is the deadline. Of several servers it is the first whose answer is missed; c2, which the others let in, is at work until after c1 has woken.",
		ZH: "停顿 5 秒，只有租约的一半，但超过了客户端等待应答的 3 秒（多节点时每个节点 50 毫秒）。c1 醒来时应答已经躺在 socket 里，读超时也已经到了；先发现哪一个由运行时决定，这里先发现的是超时。多节点时错过的是第一个节点的应答；c2 在其余节点上加锁成功，一直干到 c1 醒来之后。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(5) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs: func(p race.Profile) race.Text {
		if p.ZooKeeper {
			return race.SessionsPatience
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.CreatesKey(1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Resume, 1), Do: race.Inject(0, simulator.Choice{Verb: simulator.GiveUp, Client: 1})},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.CreatesKey(1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Timeout, 1))
	},
}

var TwoPauses = race.Scenario{
	ID:    "two-pauses",
	Race:  "S2",
	Title: race.Text{EN: "two pauses in one lease, each of which alone would be survived", ZH: "同一个租约里停顿两次，单独哪一次都扛得住"},
	Story: race.Text{
		EN: "c1's process stands still as soon as it is inside, and once more soon after. Each pause is far shorter than the lease and leaves time enough for the work; together they outlast it. Whoever measured the longest pause of his machines and made the lease longer than that has measured the wrong thing. A watchdog needs only the moment between the two.",
		ZH: "c1 刚进临界区进程就停住，醒来不久又停一次。每次停顿都远短于租约，单独一次都来得及干完；加起来却超过了租约。只按机器上最长的一次停顿来定租约，量错了东西。看门狗只需要两次停顿之间的片刻。",
	},
	Cure: race.Text{
		EN: "Count all the time since the acquire against the lease, not the pauses one by one: renew, or let the resource check a fencing token.",
		ZH: "租约要和加锁以来的总时间比，而不是和单次停顿比：要么续期，要么由资源检查围栏令牌。",
	},
	Numbers: race.Text{
		EN: "c1 needs 2.5 s, so one pause of 6 s leaves 1.5 s of the lease of 10 s. The first lasts to 6 s, the second from 7 s to 13 s. c2 gets in soon after 10 s and writes at 12.5 s; c1 overwrites that at 13 s and releases at 14 s, while c2 is still inside. In the second between the pauses the watchdog sends the renewal that was due at 3.3 s, and has a lease until 16 s.",
		ZH: "c1 需要 2.5 秒，所以只停一次 6 秒，10 秒租约还剩 1.5 秒。第一次停到 6 秒，第二次从 7 秒停到 13 秒。c2 在 10 秒后进来，12.5 秒写入；c1 在 13 秒把它覆盖，14 秒释放，此时 c2 还在里面。看门狗在两次停顿之间的一秒里补发了 3.3 秒就该发的续期，租约延到 16 秒。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=2"),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 3 / 2, Tail: s.Retry},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry * 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{
			{On: race.Event(history.Enter, 1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: race.Event(history.Resume, 1), Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))},
		}
	},
	Triggered: func(h *history.History) bool {
		pause, resume := race.Event(history.Pause, 1), race.Event(history.Resume, 1)
		return race.InOrder(h, race.Event(history.Enter, 1), pause, race.EventOfOther(history.Acquire, 1), resume, pause, race.EventOfOther(history.Acquire, 1), resume, race.Event(history.Leave, 1))
	},
}

var failoverInStep = race.Scenario{
	ID:    "failover-in-step",
	Race:  "S3",
	Title: race.Text{EN: "the replica knows of the lock when it takes over, and its owner does not", ZH: "从库接管时已经有这把锁，加锁的人自己却不知道"},
	Story: race.Text{
		EN: "c1's lock has reached the replica when the master dies: nothing is forgotten, and nobody else gets in. But with the master went c1's connection, and the answer with it. c1 takes the error for a refusal, and the lock that was so well replicated is nobody's.",
		ZH: "主库宕机时，c1 的锁已经同步到从库：什么都没丢，也没有别人能进来。但 c1 的连接随主库一起断了，应答也没了。c1 把错误当成加锁失败，这把同步得好好的锁成了无主的锁。",
	},
	Cure: race.Text{
		EN: "Replication mends what the server forgets, not what the client never heard: release by one's own token after every error, and give each lock a time to live.",
		ZH: "复制解决的是服务器忘记，解决不了客户端没听到：每次出错后用自己的令牌释放，并且每把锁都要有过期时间。",
	},
	Numbers: race.Text{
		EN: "The replica lags by nothing. The master dies when the replica has heard of c1's key, half a millisecond before the answer would have reached c1. Of several independent servers only the first fails over.",
		ZH: "复制没有延迟。从库一收到 c1 的 key，主库就宕机，再过半毫秒应答就会到达 c1。多个独立节点时，只有第一个发生切换。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Clients:  lostReply.Clients,
	Script: func(race.Settings, int) []race.Trigger {
		return []race.Trigger{
			{On: race.CreatesKey(1), Do: func(*schedule.Stage, *history.Event) {}},
			{On: replicates, Do: race.Inject(0, faults.FailoverOf(1))},
		}
	},
	Triggered: func(h *history.History) bool {
		// were anything forgotten at the failover, it would be another race
		return race.InOrderWithout(h, forgets, race.CreatesKey(1), replicates, failsOver, race.Event(history.Broken, 1), race.EventOfOther(history.Acquire, 1))
	},
}

func replicates(e *history.Event) bool { return e.Kind == history.Replicate }
func failsOver(e *history.Event) bool  { return e.Kind == history.Failover }

var undoneRelease = race.Scenario{
	ID:    "undone-release",
	Race:  "S4",
	Title: race.Text{EN: "the master dies before its replica has heard of the release", ZH: "释放还没复制到从库，主库就宕机了"},
	Story: race.Text{
		EN: "c1 has done its work, has released the lock, and has been told so. The replica knows of the lock and not yet of the release, and takes over: the lock is back, held for somebody who has finished with it.",
		ZH: "c1 干完活，释放了锁，也收到了成功的应答。从库知道这把锁，却还不知道它已释放，就被提升为主库：锁又回来了，替一个早已用完它的人占着。",
	},
	Cure: race.Text{
		EN: "A time to live, so that it ends by itself; WAIT after the release as after the acquire, where a lease is too long to wait for.",
		ZH: "设置过期时间，让它自己结束；如果一个租约等不起，释放之后也要像加锁之后一样 WAIT。",
	},
	Numbers: race.Text{
		EN: "The replica hears of each change 5 s later, and so of the lock at 5 s. c1 releases at 6 s, and the master dies a tenth of a second after c1 was told. Where nothing ends the key, c2 asks in vain until the run is over. Of several independent servers only the first fails over.",
		ZH: "从库在 5 秒之后得知每次变更，所以 5 秒时知道了锁。c1 在 6 秒释放，收到应答 0.1 秒后主库宕机。key 若没有过期时间，直到运行结束 c2 都抢不到。多个独立节点时，只有第一个发生切换。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Lag = race.Seconds(5) }),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Needs:    heedless,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 3 / 5}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Released, 1), Do: race.Inject(s.Retry/10, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		remembers := func(e *history.Event) bool {
			return e.Kind == history.Change && e.Client == 0 && e.Key == client.Key && e.Before == "" && e.After != ""
		}
		return race.InOrder(h, race.Event(history.Released, 1), failsOver, remembers, race.EventOfOther(history.Acquire, 1))
	},
}

// heedless is what scenarios need in which the replica is behind for long.
func heedless(p race.Profile) race.Text {
	if p.UsesWAIT {
		return race.Text{EN: "it waits for its replica, which is too far behind here", ZH: "它要等从库确认，而这里的从库落后太多"}
	}
	return race.Text{}
}

var quorumFailover = race.Scenario{
	ID:    "quorum-failover",
	Race:  "S5",
	Title: race.Text{EN: "one server of a bare majority is replaced by its replica", ZH: "刚好过半的节点中，有一个发生主从切换"},
	Story: race.Text{
		EN: "Several independent servers are said to solve what a failover does to one. c1 has reached a bare majority. One server of it dies, and its replica, which had not heard of the lock, takes its place: c2 finds a majority too. To those who vote, a failover is a restart without memory.",
		ZH: "据说多个独立节点解决了单节点主从切换的问题。c1 只在刚好过半的节点上加锁成功，其中一个宕机，还没收到这把锁的从库顶了上来：c2 也能凑够过半。对投票来说，主从切换就是一次失忆的重启。",
	},
	Cure: race.Text{
		EN: "Give the servers of a quorum no replicas that take over; a server that is gone must stay away for longer than the longest lease.",
		ZH: "参与投票的节点不要配置自动提升的从库；宕机的节点要等超过最长租约之后再回来。",
	},
	Numbers: race.Text{
		EN: "As in restart, c1's requests to the fourth and the fifth of five servers are lost, and its majority is {1, 2, 3}. The replicas lag by 5 s, and server 3 fails over one second after c1 has entered: c2 gets {3, 4, 5}. In failover c1 has all five, and one of them may forget.",
		ZH: "与 restart 一样，五个节点中 c1 发往 4、5 的请求丢失，它的多数派是 {1,2,3}。复制延迟 5 秒，节点 3 在 c1 进入 1 秒后发生切换：c2 拿到 {3,4,5}。在 failover 里 c1 拿到全部五个，丢一个也不要紧。",
	},
	Settings: Failover.Settings,
	Budget:   func(nodes int) string { return "failover=1" + bareMajorityBudget(nodes) },
	Replicas: 1,
	Needs: func(p race.Profile) race.Text {
		if p.Nodes == 1 {
			return race.Text{EN: "one server is no majority to lose a part of: see failover", ZH: "只有一台服务器，谈不上丢掉过半中的一个：见 failover"}
		}
		return race.Text{}
	},
	Clients: losing,
	Script: func(s race.Settings, nodes int) []race.Trigger {
		return append(BareMajority(nodes),
			race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.FailoverOf(race.Quorum(nodes)))})
	},
	Triggered: Failover.Triggered,
}

var failoverFenced = race.Scenario{
	ID:    "failover-fenced",
	Race:  "S6",
	Title: race.Text{EN: "the same failover, with fencing tokens from the server that fails over", ZH: "同样的主从切换，围栏令牌也由这台服务器发放"},
	Story: race.Text{
		EN: "As failover, but each client draws a number with INCR when it has the lock, and the resource refuses a number lower than the highest it has seen. The counter lives beside the lock and is forgotten with it: c2 is handed c1's number once more, and the resource cannot tell the two apart. What helps against a pause is worth nothing here.",
		ZH: "与 failover 相同，但每个客户端拿到锁后用 INCR 取一个号，资源拒绝比见过的最大号更小的写入。计数器和锁在同一台服务器上，一起被忘记：c2 领到与 c1 相同的号，资源分不清两者。对付停顿有效的办法，在这里毫无用处。",
	},
	Cure: race.Text{
		EN: "Draw fencing tokens from what does not forget: a store that replicates before it answers, or the resource itself, by compare-and-set.",
		ZH: "围栏令牌要从不会忘记的地方取：先复制再应答的存储，或者由资源自己做比较并设置。",
	},
	Numbers: race.Text{
		EN: "Those of failover: the replica lags by 5 s, and the master dies one second after c1 has entered with number 1. c2 enters with number 1 too and writes before c1 does, which works until 5 s.",
		ZH: "与 failover 相同：复制延迟 5 秒，主库在 c1 以 1 号进入 1 秒后宕机。c2 也以 1 号进入，并在 c1 之前写入；c1 要干到 5 秒。",
	},
	Settings: Failover.Settings,
	Budget:   Failover.Budget,
	Replicas: 1,
	Guard:    history.Fenced,
	Needs: func(p race.Profile) race.Text {
		if why := GcPauseFenced.Needs(p); why != (race.Text{}) {
			return why
		}
		return heedless(p)
	},
	Clients:   losing,
	Script:    Failover.Script,
	Triggered: sameNumber,
}

// sameNumber says whether a server forgot c1's lock, and somebody entered with
// c1's fencing token while c1 was inside.
func sameNumber(h *history.History) bool {
	var number uint64
	return race.InOrder(h, func(e *history.Event) bool {
		number = e.Token
		return race.Event(history.Enter, 1)(e)
	}, forgets, func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client != 1 && e.Token == number
	}, race.Event(history.Leave, 1))
}

var lostRelease = race.Scenario{
	ID:    "lost-release",
	Race:  "S7",
	Title: race.Text{EN: "the request that releases the lock is lost", ZH: "释放锁的请求丢失"},
	Story: race.Text{
		EN: "c1 has done its work and releases the lock, in finally, as it should. The request is lost on the way. No exception was forgotten and nobody has died, and still the lock stands: until its lease ends, or for ever.",
		ZH: "c1 干完活，按规矩在 finally 里释放锁，请求却在路上丢了。没有漏掉异常，也没有人崩溃，锁还是留了下来：要么等租约结束，要么永远。",
	},
	Cure: race.Text{
		EN: "Release again until the server has answered; that is safe with a token of one's own, and only with one. And a time to live, for when there is no server to ask.",
		ZH: "没收到应答就再次释放，直到服务器回答；只有带着自己的令牌，这样做才安全。还要有过期时间，以防始终联系不上服务器。",
	},
	Numbers: race.Text{
		EN: "c1 works for 2 s of its 10, so that most of the lease is left to be waited for. It waits 3 s for the answer, or 50 ms for each of several servers, of which a majority do not get the request. Meanwhile a watchdog still prolongs, at 3.3 s, and the wait becomes longer by as much.",
		ZH: "租约 10 秒，c1 只干 2 秒，大部分租约要由别人来等。c1 等待应答 3 秒；多节点时每个节点 50 毫秒，过半节点收不到请求。等待期间看门狗在 3.3 秒又续了一次期，别人就要多等这么久。",
	},
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-request=%d", race.Quorum(nodes)) },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 5}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(_ race.Settings, nodes int) []race.Trigger {
		lose := func(st *schedule.Stage, e *history.Event) { st.Inject(0, faults.LoseRequestOf(1, e.Thread)) }
		beats := []race.Trigger{{On: race.Event(history.Release, 1), Do: func(*schedule.Stage, *history.Event) {}}}
		for range race.Quorum(nodes) {
			beats = append(beats, race.Trigger{On: deletes, Do: lose})
		}
		return beats
	},
	Triggered: func(h *history.History) bool {
		steps := []func(*history.Event) bool{race.Event(history.Release, 1)}
		unheard := race.GivenUp(history.LoseRequest, 1)
		for range race.Quorum(h.Nodes) {
			steps = append(steps, unheard)
		}
		return race.InOrder(h, append(steps, race.EventOfOther(history.Acquire, 1))...)
	},
}
