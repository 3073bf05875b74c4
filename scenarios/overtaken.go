package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var overtaken = race.Scenario{
	ID:    "overtaken",
	Race:  "R37",
	Title: race.Text{EN: "who asks seldom is overtaken by who asks often, again and again", ZH: "很少重试的，一次次被频繁重试的抢先"},
	Story: race.Text{
		EN: "c1 asks, is refused, and rests a second before it asks again, as one should. c2 has the lock over and over: it asks again as soon as it has released, and the moment in between is too short for c1 ever to hit it. Nothing has gone wrong anywhere; a lock that has no queue goes to whoever is there first.",
		ZH: "c1 抢锁被拒，按规矩歇一秒再来。c2 却一次接一次地拿锁：刚释放就马上再抢，中间的空隙太短，c1 怎么也碰不上。哪里都没有出错：没有队列的锁，谁先到就归谁。",
	},
	Cure: race.Text{
		EN: "A queue, as fair locks, ZooKeeper and etcd have it; or a rest after each release, so that the others get a chance.",
		ZH: "排队：公平锁、ZooKeeper、etcd 都是这么做的；或者每次释放之后歇一会儿，给别人留出机会。",
	},
	Numbers: race.Text{
		EN: "c2 works for nine tenths of a second, 15 times, and needs a millisecond or two between a release and the next acquire; c1 hits that with one attempt in some hundreds. Ten rounds in which c2 entered once more count as starving: with two clients, a queue would let c1 wait for one.",
		ZH: "c2 每次干 0.9 秒，共 15 次，从释放到下一次加锁只需一两毫秒；c1 要试几百次才可能碰上一次。连续十轮都被 c2 抢先就算饥饿：只有两个客户端时，排队的话 c1 最多等一轮。",
	},
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Start: s.Retry / 2, Work: s.Retry},
			{Work: s.Retry * 9 / 10, Play: hog},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Enter, 1), race.Event(history.Refuse, 1), race.Event(history.Released, 2), race.Event(history.Acquire, 2))
	},
}

// hog plays the role fifteen times over, without a rest.
func hog(a *race.ClientRun) {
	for range 15 {
		a.Play()
	}
}
