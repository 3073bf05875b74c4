package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// renews is what the renewal scenarios need.
func renews(p race.Profile) race.Text {
	if !p.Renews {
		return race.Text{EN: "it does not prolong its lease", ZH: "它不续期"}
	}
	return race.Text{}
}

var lateRenewal = race.Scenario{
	ID:    "late-renewal",
	Race:  "R14",
	Title: race.Text{EN: "the process stands still when a renewal is due", ZH: "该续期的时候，进程停顿了"},
	Story: race.Text{
		EN: "c1's watchdog is due, and at that moment the whole process stops for a while. The renewal comes late. Whether the lock survives is a matter of margin: how much of the lease is left when the renewal is due.",
		ZH: "该续期的时候，c1 整个进程恰好停顿了一下，续期迟到。锁能不能保住取决于余量：续期时刻租约还剩多少。",
	},
	Cure: race.Text{
		EN: "A margin: renew at a third of the lease, so that two renewals may be late before it ends.",
		ZH: "留足余量：在租约的三分之一处续期，迟到两次也不会过期。",
	},
	Numbers: race.Text{
		EN: "A renewal every third of a lease of 10 s leaves a margin of 6.7 s. The pause begins just before the first renewal and lasts 6 s: it uses up nearly all of the margin.",
		ZH: "10 秒租约每三分之一续期一次，余量 6.7 秒。停顿从第一次续期前开始，持续 6 秒，几乎用完余量。",
	},
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 3 / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		waits := func(e *history.Event) bool { return e.Kind == history.Sleep && e.Client == 1 && e.Thread > 0 }
		return []race.Trigger{{On: waits, Do: func(st *schedule.Stage, e *history.Event) {
			st.Inject(e.D-s.Retry/50, faults.PauseOf(1, s.Pause))
		}}}
	},
	Triggered: func(h *history.History) bool {
		var resumed time.Duration
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), func(e *history.Event) bool {
			resumed = e.At
			return e.Kind == history.Resume && e.Client == 1
		}, func(e *history.Event) bool { // overdue: it leaves as soon as it can
			return e.Kind == history.Send && e.Client == 1 && e.Thread > 0 && e.At == resumed
		})
	},
}

var failedRenewal = race.Scenario{
	ID:    "failed-renewal",
	Race:  "R15",
	Title: race.Text{EN: "one renewal fails, and the watchdog gives up", ZH: "一次续期失败，看门狗就此罢工"},
	Story: race.Text{
		EN: "One renewal is executed, and its reply is lost. The watchdog gets an error and never tries again, while the business goes on and believes itself protected. The lease that was meant to last for ever ends one TTL after that renewal.",
		ZH: "某一次续期执行了，应答却丢了。看门狗收到异常后不再调度，业务线程却还以为有人在续期。号称一直不会释放的锁，在这次续期之后过了一个 TTL 就没了。",
	},
	Cure: race.Text{
		EN: "Try the renewal again while the lease still stands, and tell the business when it could not be prolonged.",
		ZH: "租约还在时要重试续期；确实续不上时必须通知业务停止。",
	},
	Numbers: race.Text{
		EN: "The reply that is lost is that to the first renewal, after a third of the lease of 10 s: it is executed at 3.3 s, so the key goes at 13.3 s. c1 works for two and a half leases, to 25 s: the lock ends in the middle of its work, and c2 gets in.",
		ZH: "丢失的是第一次续期的应答：10 秒租约的三分之一处，3.3 秒时执行，所以 key 在 13.3 秒消失。c1 要干两个半租约的活，到 25 秒才结束：锁在业务中途到期，c2 进来。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("lose-reply=1"),
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		var r renewal
		return []race.Trigger{{On: r.applied, Do: func(st *schedule.Stage, _ *history.Event) {
			st.Inject(s.Latency/2, faults.LoseReplyTo(1, r.sent.Thread)) // on its way, also where a replica is waited for
		}}}
	},
	Triggered: func(h *history.History) bool {
		var r renewal
		lost := func(e *history.Event) bool { return e.Kind == history.LoseReply && e.Msg == r.sent.Msg }
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), r.applied, lost, race.Event(history.Timeout, 1), race.EventOfOther(history.Acquire, 1))
	},
}

// A renewal follows the requests of c1's timers.
type renewal struct {
	sent history.Event // the latest
}

// applied names the moment at which a renewal takes effect. A script that the
// server does not know yet is refused and sent once more, and the refusal is no
// renewal.
func (r *renewal) applied(e *history.Event) bool {
	if e.Kind == history.Send && e.Client == 1 && e.Thread > 0 {
		r.sent = *e
	}
	return e.Kind == history.Apply && e.Client == 1 && e.Msg == r.sent.Msg && !strings.HasPrefix(e.Reply, "(error)")
}

// Told of locks that renew, whose daemon keeps the key of a dead business for ever.
// Two more outcomes follow from the same run: a lock without a time to live stands for
// ever with no daemon at all; and daemon-29, which is told as one of those that hold
// for ever, does not get that far: its second renewal is due when the lease ends,
// so the key goes by itself.
var DeadBusiness = race.Scenario{
	ID:    "dead-business",
	Race:  "R16",
	Title: race.Text{EN: "the business dies of an exception, its process lives on", ZH: "业务抛异常退出，进程还活着"},
	Story: race.Text{
		EN: "An exception ends c1's business without a release; the process stays up, and with it whatever prolongs the lease. A plain lease ends by itself. A watched one is held for as long as the process lives, by nobody.",
		ZH: "c1 的业务抛异常退出，没有释放锁；进程还活着，续期的线程也活着。普通租约会自己到期；有看门狗的锁会一直被占着，直到进程退出，而没有任何人在用。",
	},
	Cure: race.Text{
		EN: "Release in finally; bind the renewal to the thread that works, and give it an end.",
		ZH: "在 finally 里释放；续期要绑定在干活的线程上，并且要有上限。",
	},
	Numbers: race.Text{
		EN: "The exception comes one second into the lease; the run lasts six leases, long enough to tell waiting from waiting for ever.",
		ZH: "异常发生在租约的第 1 秒；运行持续六个租约，足以区分等一会儿和一直等。",
	},
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 10, Fails: true}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), func(e *history.Event) bool {
			return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
		}, race.EventOfOther(history.Acquire, 1))
	},
}

var deadProcess = race.Scenario{
	ID:    "dead-process",
	Race:  "R16B",
	Title: race.Text{EN: "the business dies of an exception, and later its process is restarted", ZH: "业务抛异常退出，过后进程重启"},
	Story: race.Text{
		EN: "As dead-business, but somebody notices at last and kills the process. The watchdog dies with it, and the lock ends one lease later: what it was held for was the process, not the business.",
		ZH: "与 dead-business 相同，但终于有人发现，把进程杀掉了。看门狗随之消失，再过一个租约锁就释放了：这把锁一直占着，为的是进程，而不是业务。",
	},
	Cure: DeadBusiness.Cure,
	Numbers: race.Text{
		EN: "The exception comes one second into the lease, the kill 12 s after it, when a lease of 10 s that nobody prolonged would be over. c2 has been asking all that time, and gets in within one more lease.",
		ZH: "异常发生在租约的第 1 秒，12 秒之后进程被杀，而没人续期的 10 秒租约这时早已到期。c2 一直在抢锁，再过不到一个租约才拿到。",
	},
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    renews,
	Clients:  DeadBusiness.Clients,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Leave, 1), Do: race.Inject(s.TTL*6/5, faults.CrashOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, func(e *history.Event) bool {
			return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
		}, race.EventOfOther(history.Acquire, 1), race.Event(history.Crash, 1), race.EventOfOther(history.Acquire, 1))
	},
}
