package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// closes is what the races of a shutdown need.
func closes(p race.Profile) race.Text {
	if !p.Closes {
		return race.Text{EN: "its process leaves the server alone when it is shut down in good order", ZH: "它的进程正常下线时不会去动服务器"}
	}
	return race.Text{}
}

var ForeignShutdown = race.Scenario{
	ID:    "foreign-shutdown",
	Race:  "R11",
	Title: race.Text{EN: "an instance that does not have the lock is shut down in good order", ZH: "没有持锁的实例正常下线"},
	Story: race.Text{
		EN: "c1 has the lock and works. c2 is another instance of the same service: it has asked once and been refused. Now it is stopped, as in every deployment, and on its way out it cleans up: it deletes the key, which is c1's. c3 walks in beside c1.",
		ZH: "c1 拿着锁干活。c2 是同一个服务的另一个实例，来抢过一次，没抢到。现在发版，它被正常停掉，@PreDestroy 里做清理：DEL 掉了 key，而那是 c1 的。c3 就这样和 c1 同时进来了。",
	},
	Cure: race.Text{
		EN: "Clean up only what is one's own: keep the token while the lock is held, and compare before deleting. A time to live makes such a hook needless.",
		ZH: "只清理自己的锁：持有期间记住令牌，删除前先比对。有了过期时间，就不需要这样的钩子。",
	},
	Numbers: race.Text{
		EN: "c1 works for five seconds, half a lease. c2 asks at half a second and is shut down at 1.5 s. c3 asks at 1.7 s, stays until c1 is gone, and writes before it.",
		ZH: "c1 干 5 秒，半个租约。c2 在 0.5 秒来抢锁，1.5 秒被停掉。c3 在 1.7 秒来抢锁，在 c1 之前写入，待到 c1 离开之后。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Needs:    closes,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Play: func(a *race.ClientRun) {
				a.Once()
				a.Clock().Sleep(s.Retry)
				a.ShutDown()
			}},
			{Start: s.Retry * 17 / 10, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Refuse, 2), removes(2), race.Event(history.Acquire, 3), race.Event(history.Leave, 1))
	},
}

var OwnShutdown = race.Scenario{
	ID:    "own-shutdown",
	Race:  "R11B",
	Title: race.Text{EN: "the instance that has the lock is shut down in good order, and its job goes on", ZH: "持锁的实例正常下线，任务却还在跑"},
	Story: race.Text{
		EN: "c1 has the lock, and its service is told to stop. The hook that cleans up runs beside the job, and deletes the key; the job has not heard of it and finishes what it is doing. c2 gets in meanwhile, and c1's release at the end deletes c2's lock.",
		ZH: "c1 拿着锁干活，服务收到停机信号。清理钩子和任务在不同线程上，先把 key 删了；任务并不知情，继续把活干完。这段时间 c2 进来了，c1 最后释放时又删掉了 c2 的锁。",
	},
	Cure: race.Text{
		EN: "Let the hook end the job and wait for it before it gives the lock back: who works keeps the lock.",
		ZH: "钩子要先让任务停下来，等它结束再释放锁：谁在干活，锁就在谁手里。",
	},
	Numbers: race.Text{
		EN: "c1 works for five seconds, half a lease, and the hook runs after two. c2 asks every second from half a second on, gets in at 2.5 s, writes a second later and stays until c1 has released.",
		ZH: "c1 干 5 秒，半个租约；第 2 秒执行钩子。c2 从 0.5 秒起每秒抢一次，2.5 秒进来，1 秒后写入，一直待到 c1 释放之后。",
	},
	Settings: race.Standard(),
	Needs:    closes,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2, Play: func(a *race.ClientRun) {
				a.Clock().AfterFunc(s.Retry*2, a.ShutDown)
				a.Play()
			}},
			{Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL * 2 / 5},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), removes(1), race.EventOfOther(history.Acquire, 1))
	},
}
