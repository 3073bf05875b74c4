package scenarios

import (
	"context"
	"fmt"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// The races of this file are those of a client that asks once more whether it
// still has the lock, and goes on by the answer.

var lateCheck = race.Scenario{
	ID:       "check-then-pause",
	Race:     "R19",
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs: func(p race.Profile) race.Reason {
		if !p.Checks {
			return "no-check"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry, Tail: s.Retry, Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				base, err := a.Read(client.FencingToken(lease))
				a.Clock().Sleep(a.Def.Work)
				if a.Check(lease) && err == nil {
					a.Clock().Sleep(s.Retry / 10)
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
					a.Clock().Sleep(a.Def.Tail)
				}
				a.Record(history.Event{Kind: history.Leave})
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 2, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2},
		}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: assured(client.Checking), Do: race.Inject(s.Retry/20, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, assured(client.Checking), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), race.Event(history.Resume, 1), race.Event(history.Write, 1))
	},
}

// assured names the moment at which c1 is told that it still has the lock.
func assured(what string) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client == 1 && e.Note == what
	}
}

// asked names the moment at which c1 asks to have its lease prolonged.
func asked(e *history.Event) bool {
	return e.Kind == history.Acquire && e.Client == 1 && e.Note == client.Renewing
}

// extends is what these scenarios need.
func extends(p race.Profile) race.Reason {
	if !p.Extends {
		return "no-renew"
	}
	return ""
}

var RenewHeld = race.Scenario{
	ID:       "renew-held",
	Race:     "R34",
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{comesBack(s), {Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5}}
	},
	Script: sleepsOutside,
	Triggered: func(h *history.History) bool {
		return race.InOrderWithout(h, race.Event(history.Leave, 2), outside, race.Event(history.Pause, 1), race.Event(history.Enter, 2), race.Event(history.Resume, 1), asked)
	},
}

var RenewFree = race.Scenario{
	ID:       "renew-free",
	Race:     "R34B",
	Settings: GcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{comesBack(s), {Start: s.Retry / 2, Work: s.Retry / 2, Tail: s.Retry / 2}}
	},
	Script: sleepsOutside,
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, outside, race.Event(history.Pause, 1), race.Event(history.Enter, 2), race.Event(history.Released, 2), race.Event(history.Resume, 1), asked)
	},
}

var RenewLate = race.Scenario{
	ID:       "renew-late",
	Race:     "R34C",
	Settings: SlowAcquire.Settings,
	Budget:   race.FixedBudget("delay=1"),
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				base, err := a.Read(client.FencingToken(lease))
				a.Record(history.Event{Kind: history.Leave})
				a.Clock().Sleep(s.Retry)
				if prolong(lease) == nil && err == nil {
					// told afterwards: until it is answered, c1 has its old lease
					a.Record(history.Event{Kind: history.Acquire, Note: client.Renewing})
					a.Record(history.Event{Kind: history.Enter, Note: client.Renewing})
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
					a.Record(history.Event{Kind: history.Leave})
				}
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 5, Work: s.Retry / 2, Tail: s.TTL / 2},
		}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		beats := []race.Trigger{{On: outside, Do: func(*schedule.Stage, *history.Event) {}}}
		for range race.Quorum(nodes) - 1 {
			beats = append(beats, race.Trigger{On: prolongs, Do: func(*schedule.Stage, *history.Event) {}})
		}
		return append(beats, race.Trigger{On: prolongs, Do: race.Inject(s.Latency/2, faults.DelayOf(1, 0, s.TTL+s.Retry))})
	},
	Triggered: func(h *history.History) bool {
		tooLate := func(e *history.Event) bool {
			return race.Event(history.Delay, 1)(e) && e.Note == "reply" && e.D > h.TTL
		}
		return race.InOrderWithout(h, race.Event(history.Release, 1), outside, prolongs, tooLate, race.EventOfOther(history.Acquire, 1), race.Event(history.Answer, 1))
	},
}

// prolong asks the lease to be prolonged, without a word in the history: what the
// client does by the answer stands there.
func prolong(lease lock.Lease) error {
	r, ok := lock.As[lock.Renewer](lease)
	if !ok {
		return nil // nobody to ask
	}
	return r.Renew(context.Background())
}

// prolongs names the moments at which a server prolongs c1's lease because c1 itself
// has asked, and no watchdog.
func prolongs(e *history.Event) bool {
	return race.Event(history.Change, 1)(e) && e.Thread == 0 && e.Key == client.Key && e.Before != "" && e.After != ""
}

var renewPartly = race.Scenario{
	ID:       "renew-partly",
	Race:     "R34D",
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-request=%d", race.Quorum(nodes)) },
	Needs:    extends,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Play: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
				base, err := a.Read(client.FencingToken(lease))
				end := a.Clock().Now().Add(s.TTL * 3 / 5)
				a.Clock().Sleep(s.Retry)
				_ = prolong(lease) // it fails, and the old lease is long enough
				a.Clock().Sleep(end.Sub(a.Clock().Now()))
				if err == nil {
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
				}
				a.Record(history.Event{Kind: history.Leave})
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 5, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		lost := 0
		return []race.Trigger{{Each: true,
			On: func(e *history.Event) bool {
				return e.Kind == history.Send && e.Client == 1 && e.Thread == 0 && e.Node != history.Resource && e.At > s.Retry/2 && lost < race.Quorum(nodes)
			},
			Do: func(st *schedule.Stage, _ *history.Event) {
				lost++
				st.Inject(0, faults.LoseRequestOf(1, 0))
			},
		}}
	},
	Triggered: func(h *history.History) bool {
		steps := []func(*history.Event) bool{race.Event(history.Enter, 1)}
		for range race.Quorum(h.Nodes) {
			steps = append(steps, race.Event(history.LoseRequest, 1), race.Event(history.Timeout, 1))
		}
		return race.InOrderWithout(h, race.Event(history.Leave, 1), append(steps, race.EventOfOther(history.Acquire, 1))...)
	},
}

// comesBack is a client that leaves between its read and its write, and keeps the
// lock meanwhile: it goes on if it is told that its lease is prolonged.
func comesBack(s race.Settings) race.Client {
	return race.Client{Play: func(a *race.ClientRun) {
		lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
		base, err := a.Read(client.FencingToken(lease))
		a.Record(history.Event{Kind: history.Leave})
		a.Clock().Sleep(s.Retry)
		if a.Renew(lease) && err == nil {
			_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
			a.Record(history.Event{Kind: history.Leave})
		}
		client.Release(a.Client, lease)
	}}
}

func outside(e *history.Event) bool { return e.Kind == history.Leave && e.Client == 1 }

func sleepsOutside(s race.Settings, _ int) []race.Trigger {
	return []race.Trigger{{On: outside, Do: race.Inject(s.Retry/10, faults.PauseOf(1, s.Pause))}}
}
