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
func remote(p race.Profile) race.Reason {
	if !p.Remote {
		return "no-server"
	}
	return ""
}

// reenters is what those need in which the holder asks for what it has.
func reenters(p race.Profile) race.Reason {
	if !p.Reenters {
		return "not-reentrant"
	}
	return ""
}

var Nested = race.Scenario{
	ID:                  "nested",
	Race:                "R13",
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
	ID:                  "pooled-thread",
	Race:                "R13C",
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
	ID:                  "second-try",
	Race:                "R13D",
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
	ID:                  "second-key",
	Race:                "R13E",
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
	ID:                  "late-re-entry",
	Race:                "R13F",
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
	ID:                  "two-keys",
	Race:                "R13G",
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
