package scenarios

import (
	"context"
	"slices"
	"strings"

	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Races of a thread with itself: what a reentrant lock remembers in its process and takes for the lock. They need no
// fault, so they apply also to locks that fail in calm. A refused client retries only when the others are gone, unless
// the second attempt is the race, so that each race shows one defect.

// nested: article 001 prints this code under the heading of reentrancy.
var nested = race.Race{
	ID: "nested", Code: "R13", Group: "reentrancy",
	Settings:            race.StandardWith(func(s *settings) { s.Clients = 3 }),
	IncludeNonExclusive: true,
	Needs:               needs{race.Reentry},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL / 2, Run: func(a *race.ClientRun) {
				outer := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
				if inner, err := client.Try(a.Client, a.Lock); err == nil {
					client.Release(a.Client, inner)
				}
				client.Work(a.Client, outer, a.Spec.Section())
				client.Release(a.Client, outer)
			}},
			{Start: s.TTL / 4, Work: s.Retry, Retry: s.TTL},
			{Start: s.TTL/2 + s.Retry, Work: s.Retry},
		}
	},
	Triggered: race.SequenceWithout(c1Leaves, c1Enters, c1Enters, c1Released, othersAsk),
}

// pooledThread: article 001's release deletes the key and leaves the ThreadLocal.
var pooledThread = race.Race{
	ID: "pooled-thread", Code: "R13C", Group: "reentrancy",
	Settings:            race.Standard(),
	IncludeNonExclusive: true,
	Needs:               needs{race.AnyServer},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry / 10, Retry: s.TTL / 2, Run: func(a *race.ClientRun) {
				a.AcquireWorkRelease()
				a.Clock().Sleep(s.Retry)
				a.AcquireWorkRelease()
			}},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
		}
	},
	Triggered: race.Sequence(c1Released, c2Enters, c1Asks, c2Leaves),
}

// secondTry: article 001 has this tryLock, and the advice to spin on it.
var secondTry = variant(pooledThread, "second-try", "R13D", func(sc *race.Race) {
	sc.Clients = func(s settings) clients { return clients{{Work: s.TTL / 2}, {Start: s.TTL / 5, Work: s.Retry}} }
	sc.Triggered = func(h *history.History) bool {
		return race.InOrderWithout(h, c1Leaves, c1Enters, c2Asks, c2Refused, c2Asks) ||
			race.InOrderWithout(h, c1Leaves, c1Enters, c2Asks, c2Enters) // it tried twice in one call
	}
})

// secondKey: article 001's ThreadLocal belongs to the lock object, while its methods take the key as a parameter.
var secondKey = variant(pooledThread, "second-key", "R13E", func(sc *race.Race) {
	sc.Clients = func(s settings) clients {
		return clients{
			{Work: s.TTL / 2},
			{Start: s.Retry / 2, Work: s.Retry, Retry: s.TTL / 2, Run: func(a *race.ClientRun) {
				lease, err := a.Lock.Acquire(context.Background(), client.OtherKey)
				a.AcquireWorkRelease()
				if err == nil {
					_ = lease.Release(context.Background()) // the race is not about this key
				}
			}},
		}
	}
	sc.Triggered = race.SequenceWithout(c1Leaves, c1Enters, mentionsOtherKey(2), c2Asks)
})

// mentionsOtherKey matches a client's requests about the second key, or about a znode below it.
func mentionsOtherKey(c int) race.Pattern {
	return func(e *history.Event) bool {
		return race.Event(history.Send, c)(e) && slices.ContainsFunc(e.Cmd, func(arg string) bool {
			return arg == client.OtherKey || strings.Contains(arg, "/"+client.OtherKey)
		})
	}
}

// lateReentry: article 001's tryLock returns true where the ThreadLocal is set, without a command to Redis.
var lateReentry = race.Race{
	ID: "late-re-entry", Code: "R13F", Group: "reentrancy",
	Settings:            race.Standard(),
	IncludeNonExclusive: true,
	Needs:               needs{race.Reentry},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry / 10, Run: func(a *race.ClientRun) {
				outer := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
				client.Work(a.Client, outer, a.Spec.Section())
				a.Clock().Sleep(s.TTL + s.Retry)
				if inner, err := client.Try(a.Client, a.Lock); err == nil {
					client.Work(a.Client, inner, a.Spec.Section())
					client.Release(a.Client, inner)
				}
				client.Release(a.Client, outer)
			}},
			{Start: s.TTL + s.Retry/2, Work: s.TTL / 5, Tail: s.TTL / 5},
		}
	},
	Triggered: func(h *history.History) bool {
		begin := history.Forever
		return race.InOrderWithout(h, c1Releases, func(e *history.Event) bool {
			if e.Kind == history.Enter && e.Client == 1 {
				begin = e.At
			}
			return begin == e.At
		}, c1Leaves, func(e *history.Event) bool {
			return e.Kind == history.Acquire && e.Client != 1 && e.At-h.TTL > begin
		}, c1Asks)
	},
}

// twoKeys: in the first form of article 001's class, the UUID goes into the ThreadLocal before every SET.
var twoKeys = race.Race{
	ID: "two-keys", Code: "R13G", Group: "reentrancy",
	Settings:            race.StandardWith(func(s *settings) { s.Clients = 3 }),
	IncludeNonExclusive: true,
	Needs:               needs{race.AnyServer},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL / 5, Run: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
				if second, err := a.Lock.Acquire(context.Background(), client.OtherKey); err == nil {
					_ = second.Release(context.Background()) // no other client wants it
				}
				client.Work(a.Client, lease, a.Spec.Section())
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 2, Work: s.Retry, Retry: s.TTL},
			{Start: s.TTL/5 + s.Retry, Work: s.Retry},
		}
	},
	Triggered: race.Sequence(c1Enters, mentionsOtherKey(1), othersAsk, c1Releases),
}
