package scenarios

import (
	"errors"
	"fmt"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var releaseAgain = race.Scenario{
	ID:    "release-again",
	Race:  "R33",
	Title: race.Text{EN: "the answer to a release is lost, and the lock is released once more", ZH: "释放的应答丢失，于是再释放一次"},
	Story: race.Text{
		EN: "c1 releases, the server executes it, and the answer is lost. c1 does what lost-release advises and releases again. By then the lock is c2's. A lock with a token of its own finds that it is not held, a false alarm and nothing worse; one that deletes whatever is there deletes c2's lock, and c3 walks in beside c2.",
		ZH: "c1 释放锁，服务器执行了，应答却丢了。c1 按 lost-release 的建议再释放一次，而此时锁已经是 c2 的。带自己令牌的锁会发现锁已不归它，只是一次虚惊；不看内容就删除的锁会删掉 c2 的锁，c3 又会和 c2 同时进来。",
	},
	Cure: race.Text{
		EN: "A token of one's own, compared on the server: then a release may be sent as often as one likes. Take \"not held\" after an unanswered release for a success.",
		ZH: "用自己的令牌，并在服务器上比较：这样释放可以重发任意多次。没收到应答之后再得到「未持有」，就当作已经释放成功。",
	},
	Numbers: race.Text{
		EN: "c1 releases at 3 s, waits 3 s for the answer (50 ms for each of several servers, a majority of whose answers are lost), rests a second, and releases again. c2 has entered at 3.5 s, writes at 8.5 s and stays for a second more; c3 asks every second, so it would be in before that, and write after it.",
		ZH: "c1 在 3 秒释放，等应答 3 秒（多节点时每个节点 50 毫秒，过半节点的应答丢失），歇 1 秒后再次释放。c2 在 3.5 秒进来，8.5 秒写入，再停留 1 秒；c3 每秒抢一次锁，一旦被放进来，就会在此之前进入、在此之后写入。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-reply=%d", race.Quorum(nodes)) },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL * 3 / 10, Play: insist},
			{Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry},
			{Start: s.Retry * 4 / 5, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		lost, releasing := 0, false
		follow, thread := race.FollowRequests(1)
		return []race.Trigger{
			follow,
			{On: race.Event(history.Release, 1), Each: true, Do: func(*schedule.Stage, *history.Event) { releasing = true }},
			{Each: true,
				On: func(e *history.Event) bool { return releasing && lost < race.Quorum(nodes) && removes(1)(e) },
				Do: func(st *schedule.Stage, e *history.Event) {
					lost++
					st.Inject(s.Latency/2, faults.LoseReplyTo(1, thread(e)))
				}},
		}
	},
	Triggered: func(h *history.History) bool {
		steps := []func(*history.Event) bool{race.Event(history.Release, 1)}
		unheard := race.GivenUp(history.LoseReply, 1)
		for range race.Quorum(h.Nodes) {
			steps = append(steps, unheard)
		}
		again := []func(*history.Event) bool{race.Event(history.Release, 1), race.Event(history.Leave, 2)}
		return race.InOrder(h, append(steps, again...)...) && race.InOrder(h, append([]func(*history.Event) bool{race.Event(history.LoseReply, 1), race.Event(history.Enter, 2)}, again...)...)
	},
}

// insist plays the role of one who releases until the server has answered.
func insist(a *race.ClientRun) {
	lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
	client.Work(a.Client, lease, a.Def.Section())
	for {
		err := client.Release(a.Client, lease)
		if err == nil || errors.Is(err, lock.ErrNotHeld) {
			return
		}
		a.Clock().Sleep(a.Def.Retry)
	}
}
