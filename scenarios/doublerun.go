package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// It is told as a fall of the cron locks. No lock falls: nobody is inside together
// with anybody; what is done twice is the job. The lock that is made against it,
// at-least-for, is the one with a verdict: it stands when nobody needs it any more, a
// ORPHAN on purpose.
var doubleRun = race.Scenario{
	ID:    "double-run",
	Race:  "R44",
	Title: race.Text{EN: "a job of every minute runs twice in one minute", ZH: "每分钟一次的定时任务，同一分钟跑了两遍"},
	Story: race.Text{
		EN: "The timetables of three instances start the same job on the full minute, and the lock is to let one of them do it. c1 gets the lock, does the job and releases. c3 comes in the same second, is refused and waits for the next minute. c2's clock is a little behind: on its full minute the lock is free again, and it does the job once more. Nobody was ever inside together, and no lock is to blame: to exclude is not to do once.",
		ZH: "三个实例的定时任务都在整分触发同一个任务，用锁保证只有一个去做。c1 抢到锁，做完，释放。c3 同一秒来，没抢到，等下一分钟。c2 的时钟慢一点：到它的整分时锁又空了，于是同一分钟的任务又做了一遍。自始至终没有两个人同时在里面，也怪不到任何一种锁：互斥不等于只做一次。",
	},
	Cure: race.Text{
		EN: "Keep the lock for longer than the clocks differ, also when the job is done sooner (ShedLock's lockAtLeastFor), or remember in the data which minute has been done.",
		ZH: "任务做完得再快，锁也要至少保持到超过时钟误差（ShedLock 的 lockAtLeastFor），或者在数据里记下哪一分钟已经做过。",
	},
	Numbers: race.Text{
		EN: "The job takes 300 ms and c2's clock is 2 s behind: any difference longer than the job will do. Where waiters queue, c3's place is still kept when c2 comes, which spares the second run by accident; at-least-for spares it on purpose, as it keeps the lock for 2.5 s.",
		ZH: "任务 300 毫秒，c2 的时钟慢 2 秒：误差只要比任务长就会出事。排队的锁在 c2 来时还替 c3 留着位置，碰巧免去了第二遍；at-least-for 让锁至少保持 2.5 秒，是有意避免第二遍。",
	},
	AllowsShared: true,
	Settings:     race.StandardWith(func(s *race.Settings) { s.Clients, s.Skew = 3, race.Seconds(2) }),
	Clients: func(s race.Settings) []race.Client {
		job := race.Client{Work: s.Retry * 3 / 10, Play: (*race.ClientRun).Once}
		late, same := job, job
		late.Start, late.Skew = s.Skew, -s.Skew // on the full minute, by its own clock
		same.Start = s.Retry / 10
		return []race.Client{job, late, same}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Acquire, 3), race.Event(history.Leave, 1), func(e *history.Event) bool {
			return e.Kind == history.Acquire && e.Client == 2 && e.At+e.Skew == 0
		})
	},
}
