package scenarios

import (
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var scriptLost = race.Scenario{
	ID:    "script-cache-lost",
	Race:  "R48",
	Title: race.Text{EN: "the new master knows the lock, and not the script that releases it", ZH: "新主库上有锁，却没有释放它的脚本（NOSCRIPT）"},
	Story: race.Text{
		EN: "c1 has the lock and works; the script for its release lies in the master's cache. The master dies. Its replica has heard of the lock in time and takes over, but what is cached is not replicated. c1 releases by the script's digest and is told NOSCRIPT. Who then sends the source is done; who takes it for an error leaves a lock behind that is his own, and whole.",
		ZH: "c1 拿着锁干活，释放用的脚本在主库的缓存里。主库宕机，从库及时同步到了这把锁并被提升，但脚本缓存不会同步。c1 用脚本摘要释放，得到 NOSCRIPT。接着改发脚本原文的，照样释放成功；把它当成错误的，留下了一把完好、却没人会再来释放的锁。",
	},
	Cure: race.Text{
		EN: "Send the source after NOSCRIPT, as most clients do by themselves (Script.Run in go-redis), or always.",
		ZH: "收到 NOSCRIPT 就改用 EVAL 发送脚本原文，多数客户端库会自动这样做（go-redis 的 Script.Run）；或者一直用 EVAL。",
	},
	Numbers: race.Text{
		EN: "The replica lags by nothing, so the lock is not lost. The master dies a second after c1 has entered, and c1 releases at 3 s. c2 asks every second: it would be in by 3.5 s, and waits until the lease has ended at 10 s.",
		ZH: "复制没有延迟，锁没有丢。c1 进入一秒后主库宕机，c1 在 3 秒释放。c2 每秒抢一次：本来 3.5 秒就能进来，现在要等到 10 秒租约到期。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("failover=1"),
	Replicas: 1,
	Needs: func(p race.Profile) race.Text {
		if !p.UsesEVALSHA {
			return race.Text{EN: "it calls no script by its digest, so that no server needs to remember one", ZH: "它不用摘要调用脚本，不依赖服务器记住脚本"}
		}
		return race.Text{}
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 3 / 10}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(s.Retry, faults.FailoverOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		unknown := func(e *history.Event) bool {
			return race.Applies(1, "EVALSHA")(e) && strings.HasPrefix(e.Reply, "(error) NOSCRIPT")
		}
		return race.InOrderWithout(h, forgets, race.Event(history.Enter, 1), failsOver, race.Event(history.Release, 1), unknown, race.EventOfOther(history.Acquire, 1))
	},
}
