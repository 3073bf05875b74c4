package scenarios

import (
	"context"

	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// The races of this file are those of one thread with itself: what a reentrant
// lock keeps in its process, and takes for the lock. They need no mishap, and so
// they are asked of the locks as well that fall in calm. Whoever is refused in
// them comes back when the others have gone, unless the second try is the race:
// so that each shows one defect and not the next one too.

// remote is what these scenarios need.
func remote(p race.Profile) race.Text {
	if !p.Remote {
		return race.Text{EN: "it asks no server: see R00", ZH: "它根本不问服务器：见 R00"}
	}
	return race.Text{}
}

// reenters is what those need in which the holder asks for what it has.
func reenters(p race.Profile) race.Text {
	if !p.Reenters {
		return race.Text{EN: "it refuses its own holder as anybody else", ZH: "它不可重入，对持有者自己也一样拒绝"}
	}
	return race.Text{}
}

var Nested = race.Scenario{
	ID:    "nested",
	Race:  "R13",
	Title: race.Text{EN: "lock, lock, unlock: the inner unlock, and what it leaves of the outer lock", ZH: "加锁、再加锁、解锁：内层解锁之后，外层的锁还在不在"},
	Story: race.Text{
		EN: "A section that takes the lock calls another that takes it too. c1 locks, locks again, and unlocks once; then it does the outer section's work. If the inner unlock has deleted the key, c2 walks in. And if a counter that never comes down keeps the last unlock from deleting it, c3 waits for nobody.",
		ZH: "加锁的方法里又调用了另一个加锁的方法。c1 加锁，再加锁，解锁一次，然后继续干外层的活。如果内层解锁已经把 key 删了，c2 就会闯进来；如果计数减不下去，最后一次解锁也没有删 key，c3 就要白等。",
	},
	Cure: race.Text{
		EN: "Count in the place where the lock is, in the script that takes and gives: a hash on the server. A counter in the process has to be stored after ++ and after --, and both were forgotten.",
		ZH: "在锁所在的地方计数，由加锁解锁的脚本来做：服务器上的 hash。进程里的计数器，加一减一之后都要写回去，原文两处都忘了。",
	},
	Numbers: race.Text{
		EN: "c1 is inside for five seconds, half a lease. c2 asks in the middle of them and, if refused, again when all is over; c3 asks for the first time a second after c1's last unlock, four seconds before the lease would end.",
		ZH: "c1 在里面 5 秒，半个租约。c2 在中途来要锁，被拒绝就等一切结束后再来；c3 在 c1 最后一次解锁 1 秒之后才第一次来，离租约到期还有约 4 秒。",
	},
	Settings:            race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	IncludeNonExclusive: true,
	Needs:               reenters,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2, Play: func(a *race.ClientRun) {
				outer := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				if inner, err := client.Try(a.Client, a.Lock); err == nil {
					client.Release(a.Client, inner)
				}
				client.Work(a.Client, outer, a.Def.Section())
				client.Release(a.Client, outer)
			}},
			{Start: s.TTL / 4, Work: s.Retry, Retry: s.TTL},
			{Start: s.TTL/2 + s.Retry, Work: s.Retry},
		}
	},
	Triggered: func(h *history.History) bool {
		enter := race.Event(history.Enter, 1)
		return race.InOrderWithout(h, race.Event(history.Leave, 1), enter, enter, race.Event(history.Released, 1), race.EventOfOther(history.Acquire, 1))
	},
}

var pooledThread = race.Scenario{
	ID:    "pooled-thread",
	Race:  "R13C",
	Title: race.Text{EN: "unlock, and the next request on the same thread locks again", ZH: "解锁之后，同一个线程的下一个请求又来加锁"},
	Story: race.Text{
		EN: "A request on a thread of the pool takes the lock, works, and gives it back. c2 gets it. The pool hands the same thread the next request, and it asks for the lock: what the ThreadLocal still holds is the token of the last time, and it counts as the lock.",
		ZH: "线程池里的一个线程处理请求：加锁，干活，解锁。锁到了 c2 手里。同一个线程又接到下一个请求，再来加锁：ThreadLocal 里还留着上一次的令牌，于是当成已经持有锁。",
	},
	Cure: race.Text{
		EN: "Remove the ThreadLocal on release, in finally; or ask the server each time.",
		ZH: "解锁时在 finally 里 remove 掉 ThreadLocal；或者每次都去问服务器。",
	},
	Numbers: race.Text{
		EN: "c1's first request takes a tenth of a second, the second comes one second later. c2 is inside from 0.5 s to 4.5 s; where c1 is refused it comes again after five seconds.",
		ZH: "c1 的第一个请求只用 0.1 秒，1 秒后第二个请求到来。c2 从 0.5 秒待到 4.5 秒；c1 如果被拒绝，5 秒后再来。",
	},
	Settings:            race.Standard(),
	IncludeNonExclusive: true,
	Needs:               remote,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry / 10, Retry: s.TTL / 2, Play: func(a *race.ClientRun) {
				a.Play()
				a.Clock().Sleep(s.Retry)
				a.Play()
			}},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Released, 1), race.Event(history.Enter, 2), race.Event(history.Acquire, 1), race.Event(history.Leave, 2))
	},
}

var secondTry = race.Scenario{
	ID:    "second-try",
	Race:  "R13D",
	Title: race.Text{EN: "refused, and tried once more by the same thread", ZH: "加锁失败，同一个线程再试一次"},
	Story: race.Text{
		EN: "c1 has the lock. c2's tryLock is refused, and it tries a second time. Its token went into the ThreadLocal before anybody knew whether it would count, and nobody took it out: the second try finds it there and believes to have the lock. A spin is nothing but such second tries.",
		ZH: "c1 拿着锁。c2 的 tryLock 被拒绝，又试一次。令牌在结果出来之前就放进了 ThreadLocal，失败后也没人取出来：第二次尝试看到它，就以为自己持有锁。自旋无非就是这样一次次的第二次。",
	},
	Cure: race.Text{
		EN: "Store the token when the server has said yes, not before.",
		ZH: "服务器答应之后再保存令牌，不要提前。",
	},
	Numbers: race.Text{
		EN: "c1 works for half a lease. c2 tries at 2 s and, a second later, at 3 s.",
		ZH: "c1 干半个租约。c2 在 2 秒时试一次，1 秒之后在 3 秒时再试一次。",
	},
	Settings:            race.Standard(),
	IncludeNonExclusive: true,
	Needs:               remote,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 2}, {Start: s.TTL / 5, Work: s.Retry}}
	},
	Triggered: func(h *history.History) bool {
		leave, asks := race.Event(history.Leave, 1), race.Event(history.Acquire, 2)
		return race.InOrderWithout(h, leave, race.Event(history.Enter, 1), asks, race.Event(history.Refuse, 2), asks) ||
			race.InOrderWithout(h, leave, race.Event(history.Enter, 1), asks, race.Event(history.Enter, 2)) // it tried twice in one call
	},
}

var secondKey = race.Scenario{
	ID:    "second-key",
	Race:  "R13E",
	Title: race.Text{EN: "a thread that has one key asks for another", ZH: "已经锁住一个 key 的线程，再去锁另一个"},
	Story: race.Text{
		EN: "c2 has locked one key, and needs a second one, which c1 has. There is one place in the thread for the token of all keys: it is full, so the second key counts as locked, and no server has heard of it.",
		ZH: "c2 已经锁住一个 key，还需要第二个，而第二个在 c1 手里。线程里所有 key 共用一个放令牌的地方：那里已经有值，第二个 key 就算锁上了，服务器却从没听说过。",
	},
	Cure: race.Text{
		EN: "One token for each key.",
		ZH: "每个 key 一个令牌。",
	},
	Numbers: race.Text{
		EN: "c1 has the lock for half a lease. c2 locks another key at half a second and at once asks for c1's; if refused, it comes again after five seconds, when c1 has gone.",
		ZH: "c1 持锁半个租约。c2 在 0.5 秒锁住另一个 key，随即来要 c1 的锁；被拒绝就在 5 秒后再来，那时 c1 已经走了。",
	},
	Settings:            race.Standard(),
	IncludeNonExclusive: true,
	Needs:               remote,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Retry: s.TTL / 2, Play: func(a *race.ClientRun) {
				lease, err := a.Lock.Acquire(context.Background(), client.OtherKey)
				a.Play()
				if err == nil {
					_ = lease.Release(context.Background()) // the race is not about this key
				}
			}},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), speaksOfOther(2), race.Event(history.Acquire, 2))
	},
}

// speaksOfOther names a client's requests that are about the second key.
func speaksOfOther(c int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Send && e.Client == c && race.Mentions(e.Cmd, client.OtherKey)
	}
}

var reentryLate = race.Scenario{
	ID:    "late-re-entry",
	Race:  "R13F",
	Title: race.Text{EN: "the lease has ended, and its thread enters again", ZH: "租约已到期，原来的线程又要重入"},
	Story: race.Text{
		EN: "c1 locks, does something, and then waits for something else, the lock still its own as it believes. The lease ends; c2 gets in. Now c1 calls a section that locks again: it has its token, asks nobody, and stands beside c2.",
		ZH: "c1 加锁，干完一段，又去等别的事情，自以为锁还在手里。租约到期，c2 进来。这时 c1 调用另一个要加锁的方法：令牌还在，不问任何人就进去，和 c2 撞在一起。",
	},
	Cure: race.Text{
		EN: "Let the server decide on re-entry as well, and let it prolong the lease in the same script.",
		ZH: "重入也要由服务器判断，并且在同一段脚本里续上租约。",
	},
	Numbers: race.Text{
		EN: "c1's first section is over after a tenth of a second; it enters again at 11.1 s. The lease of 10 s has ended by then, and c2, which first asks at 10.5 s, is inside until 14.5 s, unless a watchdog has kept the lease.",
		ZH: "c1 的第一段只用 0.1 秒；11.1 秒再次进入。10 秒的租约已经到期，10.5 秒才来的 c2 会一直待到 14.5 秒，除非有看门狗续住了租约。",
	},
	Settings:            race.Standard(),
	IncludeNonExclusive: true,
	Needs:               reenters,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry / 10, Play: func(a *race.ClientRun) {
				outer := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				client.Work(a.Client, outer, a.Def.Section())
				a.Clock().Sleep(s.TTL + s.Retry)
				if inner, err := client.Try(a.Client, a.Lock); err == nil {
					client.Work(a.Client, inner, a.Def.Section())
					client.Release(a.Client, inner)
				}
				client.Release(a.Client, outer)
			}},
			{Start: s.TTL + s.Retry/2, Work: s.TTL / 5, Tail: s.TTL / 5},
		}
	},
	Triggered: func(h *history.History) bool {
		begin := history.Forever
		return race.InOrderWithout(h, race.Event(history.Release, 1), func(e *history.Event) bool {
			if e.Kind == history.Enter && e.Client == 1 {
				begin = e.At
			}
			return begin == e.At
		}, race.Event(history.Leave, 1), func(e *history.Event) bool {
			return e.Kind == history.Acquire && e.Client != 1 && e.At-h.TTL > begin
		}, race.Event(history.Acquire, 1))
	},
}

var twoTokens = race.Scenario{
	ID:    "two-keys",
	Race:  "R13G",
	Title: race.Text{EN: "a thread takes a second key, and its first can no longer be given back", ZH: "线程又锁了第二个 key，第一把锁就释放不掉了"},
	Story: race.Text{
		EN: "c1 has the lock, takes another key as well, gives that back, and then the lock. With one place for the token of all keys, the second has overwritten the first: the release finds a value that it does not know, takes the lock for somebody else's, and leaves it.",
		ZH: "c1 拿着锁，又锁了另一个 key，用完先释放它，再释放第一把锁。所有 key 共用一个放令牌的地方，第二个令牌把第一个覆盖了：释放时一比对，值不认识，以为是别人的锁，就留在那里了。",
	},
	Cure: race.Text{
		EN: "Keep the token in the lease that Acquire returns, where only its own release finds it.",
		ZH: "把令牌放在加锁返回的对象里，只有它自己的释放才用得到。",
	},
	Numbers: race.Text{
		EN: "c1 is inside for two seconds. c2 asks during them, and once more after a lease; c3 asks for the first time at 3 s, when the lock has been given back, or should have been.",
		ZH: "c1 在里面 2 秒。c2 在此期间来要锁，过一个租约再来；c3 在 3 秒时第一次来，锁此时已经释放，或者说本该释放。",
	},
	Settings:            race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	IncludeNonExclusive: true,
	Needs:               remote,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL / 5, Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				if second, err := a.Lock.Acquire(context.Background(), client.OtherKey); err == nil {
					_ = second.Release(context.Background()) // nobody else wants it
				}
				client.Work(a.Client, lease, a.Def.Section())
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 2, Work: s.Retry, Retry: s.TTL},
			{Start: s.TTL/5 + s.Retry, Work: s.Retry},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), speaksOfOther(1), race.EventOfOther(history.Acquire, 1), race.Event(history.Release, 1))
	},
}
