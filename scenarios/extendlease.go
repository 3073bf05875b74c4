package scenarios

import (
	"context"
	"fmt"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Races of a holder that asks to have its lease renewed and relies on the answer.

// renewHeld: redis-py issue 4315, where reacquire reports a success that it has not had.
var renewHeld = race.Race{
	ID: "renew-held", Code: "R34", Group: "replies",
	Settings: gcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needs{race.Renewable},
	Clients: func(s settings) clients {
		return clients{renewsAfterBreak(s, renews), {Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5}}
	},
	// between c1's read and its write
	Script:    func(s settings, _ int) script { return inject(c1Leaves, s.Retry/10, faults.PauseOf(1, s.Pause)) },
	Triggered: race.SequenceWithout(c2Leaves, c1Leaves, c1Pauses, c2Enters, c1Resumes, asksRenewal),
}

// renewFree is renewHeld with a free lock.
var renewFree = variant(renewHeld, "renew-free", "R34B", func(sc *race.Race) {
	sc.Clients = func(s settings) clients {
		return clients{renewsAfterBreak(s, renews), {Start: s.Retry / 2, Work: s.Retry / 2, Tail: s.Retry / 2}}
	}
	sc.Triggered = race.Sequence(c1Leaves, c1Pauses, c2Enters, c2Released, c1Resumes, asksRenewal)
})

// renewLate is slow-acquire for a renewal. Only the answer that completes the majority is delayed.
var renewLate = race.Race{
	ID: "renew-late", Code: "R34C", Group: "replies",
	Settings: slowAcquire.Settings,
	Budget:   race.FixedBudget("delay=1"),
	Needs:    needs{race.Renewable, race.LaterEnd},
	Clients: func(s settings) clients {
		return clients{
			renewsAfterBreak(s, func(a *race.ClientRun, lease lock.Lease, read error) bool {
				renewed := renew(lease) == nil && read == nil
				if renewed { // recorded afterwards: until the answer, c1 has its old lease
					a.Record(history.Event{Kind: history.Acquire, Note: client.Renewing})
					// no claim: it was true when the servers answered
					a.Record(history.Event{Kind: history.Enter, Note: client.Renewing})
				}
				return renewed
			}),
			{Start: s.Retry / 5, Work: s.Retry / 2, Tail: s.TTL / 2},
		}
	},
	Script: func(s settings, nodes int) script {
		others := slices.Repeat(script{{On: renewalApplied}}, race.Quorum(nodes)-1)
		last := inject(renewalApplied, s.Latency/2, faults.DelayOf(1, 0, s.TTL+s.Retry))
		return slices.Concat(script{{On: c1Leaves}}, others, last)
	},
	Triggered: func(h *history.History) bool {
		tooLate := func(e *history.Event) bool {
			return race.Event(history.Delay, 1)(e) && e.Note == "reply" && e.D > h.TTL
		}
		return race.InOrderWithout(h, c1Releases, c1Leaves, renewalApplied, tooLate, othersAsk,
			race.Event(history.Answer, 1))
	},
}

// renewPartly is a renewal that reaches too few servers, while the old lease goes on.
var renewPartly = race.Race{
	ID: "renew-partly", Code: "R34D", Group: "replies",
	Settings: race.Standard(),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-request=%d", race.Quorum(nodes)) },
	Needs:    needs{race.Renewable},
	Clients: func(s settings) clients {
		return clients{
			{Run: func(a *race.ClientRun) {
				a.Update(func(lease lock.Lease, read error) bool {
					end := a.Clock().Now().Add(s.TTL * 3 / 5)
					a.Clock().Sleep(s.Retry)
					_ = renew(lease) // it fails, and the old lease is long enough
					a.Clock().Sleep(end.Sub(a.Clock().Now()))
					return read == nil
				})
			}},
			{Start: s.Retry / 5, Work: s.Retry, Tail: s.TTL / 2},
		}
	},
	Script: func(s settings, nodes int) script {
		return script{{Each: true, Times: race.Quorum(nodes),
			On: func(e *history.Event) bool { return mainSends(e) && e.Node != history.Resource && e.At > s.Retry/2 },
			Do: race.Inject(0, faults.LoseRequestOf(1, 0)),
		}}
	},
	Triggered: func(h *history.History) bool {
		lost := append([]race.Pattern{c1Enters}, unheard(h, history.LoseRequest)...)
		return race.InOrderWithout(h, c1Leaves, append(lost, othersAsk)...)
	},
}

// renewsAfterBreak is a client that leaves the critical section between its read and its write and keeps the lock
// meanwhile. It goes on if its lease is renewed, by renews, which gets the error of the read.
func renewsAfterBreak(s settings, renews func(a *race.ClientRun, lease lock.Lease, read error) bool) race.ClientSpec {
	return race.ClientSpec{Run: func(a *race.ClientRun) {
		lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
		base, err := a.Read(client.FencingToken(lease))
		a.Record(history.Event{Kind: history.Leave})
		a.Clock().Sleep(s.Retry)
		if renews(a, lease, err) {
			_ = a.Write(base, client.FencingToken(lease)) // a refusal is recorded by the resource
			a.Record(history.Event{Kind: history.Leave})
		}
		client.Release(a.Client, lease)
	}}
}

// renews is for renewsAfterBreak: the renewal is recorded.
func renews(a *race.ClientRun, lease lock.Lease, read error) bool {
	return a.Renew(lease) && read == nil
}

// asksRenewal matches the moment at which c1 asks to have its lease renewed.
func asksRenewal(e *history.Event) bool {
	return e.Kind == history.Acquire && e.Client == 1 && e.Note == client.Renewing
}

// renew renews the lease without recording it: the client records what it does with the answer.
func renew(lease lock.Lease) error {
	r, ok := lock.As[lock.Renewer](lease)
	if !ok {
		return nil // the lease cannot be renewed
	}
	return r.Renew(context.Background())
}

// renewalApplied matches the moment at which a server renews c1's lease on c1's own request, not a watchdog's.
func renewalApplied(e *history.Event) bool {
	return race.Event(history.Change, 1)(e) && e.Thread == 0 && e.Key == client.Key && e.Before != "" && e.After != ""
}
